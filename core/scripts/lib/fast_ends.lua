-- defines end_ids
-- needs acked_tickets awaited batches by byte end_text ends format kept msg now started sub
-- includes fast_noted
-- Reads what an acknowledgement must note: kept ends as lib/note_end.lua does, and members of
-- batches as lib/batch_counts.lua does. lib/fast_ends_write.lua writes it. The script passes the
-- call on if a batch may end, or if an end cannot be noted.
-- acked_tickets: leased tickets of first deliveries. end_ids: the ids of those messages whose ends
-- are noted. by, end_text: `by` and `text` of note_end(). now: the time in ms; nil: this reads the
-- clock if an end is kept. end_records: the key `ends`. In a reserve the name `ends` later means
-- the end of the leases.
local end_ids, end_tickets, end_records, members, has_kept = { nil }, { nil }, ends, nil, false
local end_words, keep_words, last_kept = { nil }, { nil }, 0
local member_words, over_words, waited = nil, nil, nil
for i = 1, #acked_tickets do
  local ticket = acked_tickets[i]
  local zero, point, mark = byte(ticket, 1, 3)
  if zero == 48 and point == 46 and mark == 33 then
    end_ids[#end_ids + 1], end_tickets[#end_tickets + 1] = string.match(ticket, ':(.+)$'), ticket
  end
end
if end_ids[1] then
  local envelopes, keeps = redis.pcall('HMGET', msg, unpack(end_ids)), { nil }
  if envelopes.err then
    return nil
  end
  for i = 1, #end_ids do
    local envelope = envelopes[i] or ''
    -- include fast_noted
    if batch then
      members = members or {}
      members[batch] = (members[batch] or 0) + 1
    end
    keeps[i], has_kept = keep or false, has_kept or keep
  end
  if members then
    member_words = { nil }
    for name, number in pairs(members) do
      -- The record's form is that of lib/batch_record.lua.
      local text = redis.pcall('HGET', batches, name)
      if type(text) ~= 'string' or #text < 50 or byte(text) ~= 1 then
        return nil
      end
      local state, pushed, acked, dead, cancelled, expired, purged =
        struct.unpack('>BI4I4I4I4I4I4', text, 2)
      -- A batch that is closed has no entry in the outbox any more, and ends with its last member.
      if state > 1 or state == 1 and (#text > 50
        or pushed - acked - dead - cancelled - expired - purged <= number) then
        return nil
      end
      member_words[#member_words + 1], member_words[#member_words + 2] =
        name, sub(text, 1, 6) .. struct.pack('>I4', acked + number) .. sub(text, 11)
    end
  end
  if has_kept then
    if not now then
      local time = redis.call('TIME')
      now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    local at = format('%d', now)
    local began = redis.pcall('HMGET', started, unpack(end_ids))
    local before = redis.pcall('HMGET', end_records, '', unpack(end_ids))
    local final = redis.pcall('ZRANGE', kept, '-1', '-1', 'WITHSCORES')
    local over = redis.pcall('ZRANGEBYSCORE', kept, '-inf', at, 'LIMIT', '0', '100')
    local waits = redis.pcall('ZMSCORE', awaited, unpack(end_ids))
    if began.err or before.err or final.err or over.err or waits.err then
      return nil
    end
    local total, latest = tonumber(before[1] or '0'), tonumber(final[2] or '0')
    if not total or total % 1 ~= 0 or total < 0 or total >= 2 ^ 53 or latest >= 2 ^ 53 then
      return nil
    end
    last_kept = latest
    for i = 1, #end_ids do
      local id, keep, old = end_ids[i], keeps[i], before[i + 1]
      if keep then
        local record = 'acked ' .. at .. ' '
          .. (began[i] and string.match(began[i], '^%d+$') or '0') .. '\n' .. end_tickets[i] .. '\n'
          .. by .. '\n' .. end_text
        total = total + #record - (old and #old or 0)
        last_kept = math.max(last_kept, now + keep)
        end_words[#end_words + 1], end_words[#end_words + 2] = id, record
        keep_words[#keep_words + 1], keep_words[#keep_words + 2] = format('%d', now + keep), id
        if waits[i] then
          waited = waited or { nil }
          waited[#waited + 1] = id
        end
      end
    end
    if over[1] then
      local fresh = {}
      for i = 2, #keep_words, 2 do
        fresh[keep_words[i]] = true
      end
      over_words = { nil }
      for i = 1, #over do
        local size = not fresh[over[i]] and redis.pcall('HSTRLEN', end_records, over[i])
        if type(size) == 'number' then
          total, over_words[#over_words + 1] = total - size, over[i]
        end
      end
    end
    -- The empty field has the bytes of all records.
    end_words[#end_words + 1], end_words[#end_words + 2] = '', format('%d', total)
  end
end
