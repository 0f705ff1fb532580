-- defines store_drafts; needs delayed meta msg unique
-- includes draft_read ticket attempts bulk enqueue note_event count unique_ends
-- Stores the drafts in `words` (lib/draft_read.lua) from index `from` on. `how` may have: replace
-- (lib/replace_message.lua); leaving, the id of a message that ends in the same step, so that a
-- draft may have it, even while it is unique; records, the attempts of each draft ('': none), and
-- attempts, their key. Tickets are written before envelopes: if a write fails, a ticket without a
-- message may stay, which a reserve drops, but no message without a ticket.
-- Returns a digit for each: 0 stored, 2 refused; or nil and an error, and then nothing has changed.
local function store_drafts(words, from, now, how)
  local ids, outcome, fresh, unique_windows, pushed, replaced, own = {}, {}, {}, {}, 0, 0, false
  for i = from, #words, 4 do
    ids[#ids + 1] = words[i]
    own = own or string.byte(words[i + 1], 2) % 2 == 1
  end
  local existing = redis.pcall('HMGET', msg, unpack(ids))
  if existing.err then
    return nil, existing
  end
  local unique_until = own and redis.call('ZCARD', unique) > 0
    and redis.call('ZMSCORE', unique, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    local draft, before = draft_read(words, from + 4 * (n - 1), now), fresh[id]
    local stored, old = nil, id ~= how.leaving and existing[n]
    if draft.replace > 0 and before and not before.keeps_place then
      stored, replaced = true, replaced + 1
    elseif before or old then
      stored = draft.replace > 0 and old and how.replace(draft, id, old)
      replaced = replaced + (stored and not (draft.keeps_place and draft.replace == 2) and 1 or 0)
    else
      stored = draft.incarnation == '' or id == how.leaving or not unique_until[n]
        or tonumber(unique_until[n]) <= now
    end
    outcome[n] = stored and DUEQ_OK or DUEQ_DUPLICATE
    if stored then
      draft.record = how.records and how.records[n] ~= '' and how.records[n]
      fresh[id], pushed = draft, pushed + (draft.keeps_place and draft.replace == 2 and 0 or 1)
      if draft.window > 0 then
        unique_windows[#unique_windows + 1] = string.format('%d', now + draft.window)
        unique_windows[#unique_windows + 1] = id
      end
    end
  end

  local envelopes, at_once, later, records, first, large = {}, {}, {}, {}, nil, false
  local has_group = false
  for _, id in ipairs(ids) do
    local draft = fresh[id]
    if draft then
      fresh[id] = nil
      envelopes[#envelopes + 1], envelopes[#envelopes + 2] = id, draft.envelope
      large = large or #draft.envelope > 1048576
      has_group = has_group or string.byte(draft.envelope, 2) >= 128
      if draft.record then
        records[#records + 1], records[#records + 2] = id, draft.record
        draft.ticket = ticket_write(attempts_read(draft.record).deliveries, id,
          draft.suffix ~= '' and draft.suffix or nil)
      end
      if not draft.keeps_place and draft.at_once then
        at_once[#at_once + 1] = draft.ticket
      elseif not draft.keeps_place then
        later[#later + 1], later[#later + 2] = string.format('%d', draft.due), draft.ticket
        first = math.min(first or draft.due, draft.due)
      end
    end
  end
  if has_group then
    -- From now on reserve_groups serves the queue, and the fast reserve passes calls on.
    redis.call('HSETNX', meta, 'turns', '0 0')
    redis.call('HSET', meta, 'has_priorities', '1')
  end
  bulk('ZADD', delayed, later)
  bulk('HSET', how.attempts, records)
  enqueue(at_once)
  bulk('HSET', msg, envelopes)
  if first then
    note_event(first, now)
  end
  if large then
    -- From now on a reserve looks at sizes (lib/select_messages.lua).
    redis.call('HSET', meta, 'large', '1', 'has_priorities', '1')
  end
  count('pushed', pushed)
  count('cancelled', replaced)
  bulk('ZADD', unique, unique_windows)
  if #unique_until > 0 then
    drop_unique_ends(now, 100 + 2 * #ids)
  end
  return table.concat(outcome)
end
