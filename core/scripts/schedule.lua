-- schedule: stores the message of a schedule, unless there is one of the same definition that is
-- not dead. If it replaces a paused message, the new one is paused too. If it replaces one that has
-- the same times, the new one has its next time: else a time that has come and is not fired would
-- be lost, and the client, which computed a time before, cannot tell.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- keys turns working parked timers ends kept started awaited guests
-- includes now message keep_reply store_drafts deferred_removals refuse_layout replace_message
-- includes keep_history leaves wake note_end
-- args id, envelope, due, extra (lib/draft_read.lua). The first header is `time`, with 13 digits;
--   then come `last`, with 13 digits too, if there is one, `schedule` and `zone`.
-- Returns a digit: 0 stored, 2 the same schedule is there.

-- include refuse_layout
-- include replace_message
-- A schedule's envelope in parts: fixed, incarnation, size (of the headers), time, last (the whole
-- header, or ''), rest. Returns nil for bytes that are too short.
local function parts(envelope)
  if #envelope < 36 then
    return nil
  end
  local p = {
    fixed = string.sub(envelope, 1, 4), incarnation = string.sub(envelope, 5, 14),
    size = struct.unpack('>H', envelope, 15), time = string.sub(envelope, 17, 36), last = '',
    rest = string.sub(envelope, 37),
  }
  if string.sub(p.rest, 1, 7) == '\4last\0\13' then
    p.last, p.rest, p.size = string.sub(p.rest, 1, 20), string.sub(p.rest, 21), p.size - 20
  end
  return p
end

-- Whether both have the same expression and zone. The second is the client's, and so well formed.
local function same_times(was, new)
  local size = 11 + struct.unpack('>H', new.rest, 10)
  if string.sub(new.rest, size + 1, size + 5) == '\4zone' then
    size = size + 7 + struct.unpack('>H', new.rest, size + 6)
  end
  return string.sub(was.rest, 1, size) == string.sub(new.rest, 1, size)
    and string.sub(was.rest, size + 1, size + 5) ~= '\4zone'
end

local now, due, envelope = now_ms(), ARGV[6], ARGV[5]
local old = find_message(ARGV[4], { delayed, leased, dead, outbox })
local was, new = old and parts(old.envelope), parts(envelope)
if was and old.place ~= 3 then
  if was.fixed == new.fixed and was.size == new.size and was.rest == new.rest then
    return keep_reply(DUEQ_DUPLICATE)
  elseif same_times(was, new) and tonumber(string.sub(was.time, 8)) then
    new.time, due = was.time, old.place == 1 and '@' .. old.time or '0'
  end
  envelope = new.fixed .. new.incarnation .. struct.pack('>H', new.size + #was.last) .. new.time
    .. was.last .. new.rest
  if old.place == 1 and tonumber(old.time) >= 4102444800000 then
    due = '@4102444800000'
  end
end
-- include keep_history
local words = { ARGV[4], envelope, due, ARGV[7] }
local outcome = store_drafts(words, 1, now, { replace = replace_message })
local returned = write_left()
if write_ends(now) or returned > 0 then
  -- The client of this call relays nothing: a consumer that waits does.
  wake_one()
end
run_removals()
return keep_reply(outcome)
