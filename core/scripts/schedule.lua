-- schedule: stores the message of a schedule, unless there is one of the same definition that is
-- not dead. If it replaces a paused message, the new one is paused too.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- keys turns working parked timers
-- includes now message keep_reply store_drafts deferred_removals refuse_layout replace_message
-- includes keep_history leaves wake
-- args id, envelope, due, extra (lib/draft_read.lua). The first header is `time`, with 13 digits.
-- Returns a digit: 0 stored, 2 the same schedule is there.

-- include refuse_layout
-- include replace_message
-- The envelope without its incarnation and without the digits of `time`.
local function definition(envelope)
  return string.sub(envelope, 1, 4) .. string.sub(envelope, 15, 23) .. string.sub(envelope, 37)
end

local now, due = now_ms(), ARGV[6]
local old = find_message(ARGV[4], { delayed, leased, dead, outbox })
if old and old.place ~= 3 and definition(old.envelope) == definition(ARGV[5]) then
  return keep_reply(DUEQ_DUPLICATE)
elseif old and old.place == 1 and tonumber(old.time) >= 4102444800000 then
  due = '@4102444800000'
end
-- include keep_history
local words = { ARGV[4], ARGV[5], due, ARGV[7] }
local outcome = store_drafts(words, 1, now, { replace = replace_message })
if write_left() > 0 then
  wake_one()
end
run_removals()
return keep_reply(outcome)
