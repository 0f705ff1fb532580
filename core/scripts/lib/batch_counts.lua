-- defines batch_count write_batches
-- needs batches batch_ends msg outbox
-- includes batch_record bulk is_name text outbox_draft store_drafts outbox_put deferred_removals
-- Counts the ends of members of batches, closes batches, and pushes their callbacks. `batches` has
-- the record of each batch that has not ended, and under its id, a tab and then, catch or finally
-- that callback: as MessagePack its queue ('': this one), the id of its entry in the outbox, and
-- id, envelope, due, extra as of push_full.
local counted = {}

-- Notes a change of a batch. what: acked, dead, cancelled, expired or purged: so many members ended
-- so. close: the batch closes. timeout: the same, as the entry of the outbox which closes it has
-- come. A relay removes that entry.
local function batch_count(id, what, number)
  local change = counted[id] or {}
  counted[id], change[what] = change, (change[what] or 0) + number
end

-- Adds what was noted to a record. Returns the names of the callbacks that it calls.
local function batch_add(b, change, now)
  local due, had_dead = { nil }, b.dead > 0
  for what, number in pairs(change) do
    if what ~= 'close' and what ~= 'timeout' then
      b[what] = b[what] + number
    elseif b.state == 0 then
      b.state, b.closes = 1, now
    end
  end
  if b.dead > 0 and not had_dead then
    due[1] = 'catch'
  end
  if b.state == 1 and batch_left(b) == 0 then
    b.state, b.ended = 2, now
    if b.acked == b.pushed then
      due[#due + 1] = 'then'
    end
    due[#due + 1] = 'finally'
  end
  return due
end

-- Reads a callback of a batch. Returns its six words; nil: the batch has none, or it is damaged.
local function batch_callback(id, name)
  local text = redis.call('HGET', batches, id .. '\t' .. name)
  local fine, words = pcall(cmsgpack.unpack, text or '')
  fine = text and fine and type(words) == 'table'
  for i = 1, 6 do
    fine = fine and type(words[i]) == 'string'
  end
  return fine and (words[1] == '' or is_name(words[1])) and is_text(words[3])
    and string.find(words[4], '^[\209\211]...') and words or nil
end

-- Pushes callbacks, which are in `calls`, six words each. Returns whether a relay has work, and a
-- time before which none of those in this queue falls due (nil: there are none).
local function push_callbacks(calls, now)
  local drafts, entries, tickets = {}, {}, {}
  if #calls > 0 then
    -- If `outbox` has another type, the script ends here. Behind this line it would end when some
    -- callbacks are pushed, and a second run would push them again.
    redis.call('ZCARD', outbox)
  end
  for _, words in ipairs(calls) do
    -- Its id was made when the batch was opened. As a delayed message it is late by its due time.
    words[5] = words[5] == '0' and '+1' or words[5]
    if words[1] == '' then
      for i = 3, 6 do
        drafts[#drafts + 1] = words[i]
      end
    else
      tickets[#tickets + 1] = words[2]
      entries[#entries + 1], entries[#entries + 2] = words[2], outbox_draft(words[1], words, 3, now)
    end
  end
  if #drafts > 0 then
    store_drafts(drafts, 1, now, {})
  end
  for _, ticket in ipairs(tickets) do
    outbox_put(ticket, now + 1000)
  end
  bulk('HSET', msg, entries)
  return #tickets > 0, #drafts > 0 and now or nil
end

-- Keeps the record of a batch that has ended, and forgets the batch. Records are few: each end
-- removes those whose time is over, and after the last one's time the key expires. The callbacks
-- are pushed by then, so a `batch_ends` of another type must not make the script fail: a second run
-- would push them again.
local function end_batch(id, b, now)
  for _, field in ipairs({ id, id .. '\tthen', id .. '\tcatch', id .. '\tfinally' }) do
    defer_removal('HDEL', batches, field)
  end
  if b.keep == 0 then
    return
  end
  local found = redis.pcall('HSCAN', batch_ends, '0', 'COUNT', '20')[2] or {}
  for i = 1, #found, 2 do
    local other = batch_read(found[i + 1])
    -- An earlier batch may have had the same id: the new record takes the place of its record.
    if found[i] ~= id and (not other or not batch_is_kept(other, now)) then
      defer_removal('HDEL', batch_ends, found[i])
    end
  end
  local left = tonumber(redis.pcall('PTTL', batch_ends)) or 0
  if type(redis.pcall('HSET', batch_ends, id, batch_write(b))) == 'number' then
    redis.pcall('PEXPIRE', batch_ends, string.format('%d', math.max(left, b.keep)))
  end
end

-- Writes what was noted, in a script's write phase, before run_removals(). A batch that is not
-- known has ended, and nothing is counted. Returns what push_callbacks() returns.
local function write_batches(now)
  local ids, records, calls, ended = { nil }, {}, {}, {}
  for id in pairs(counted) do
    ids[#ids + 1] = id
  end
  local texts = #ids > 0 and redis.call('HMGET', batches, unpack(ids)) or {}
  for i, id in ipairs(ids) do
    local b = batch_read(texts[i])
    if b then
      for _, name in ipairs(batch_add(b, counted[id], now)) do
        calls[#calls + 1] = batch_callback(id, name)
      end
      if b.state > 0 and b.timer ~= '' then
        if not counted[id].timeout then
          defer_removal('ZREM', outbox, b.timer)
          defer_removal('HDEL', msg, b.timer)
        end
        b.timer = ''
      end
      if b.state == 2 then
        ended[id] = b
      else
        records[#records + 1], records[#records + 2] = id, batch_write(b)
      end
    end
  end
  local out, first = push_callbacks(calls, now)
  bulk('HSET', batches, records)
  for id, b in pairs(ended) do
    end_batch(id, b, now)
  end
  return out, first
end
