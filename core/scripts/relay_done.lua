-- relay_done: takes what a relay has pushed out of the outbox. What the other queue refused because a message of the id
-- lives there is DEAD here; a successor then is dropped. What could not be pushed is tried again later, after a pause
-- that grows from 1 s to 5 minutes.
-- keys msg outbox dead attempts handover wake meta
-- args alone: when the relay's lease ends in ms, the other queue's name, error ('': none), then ticket and digit of each
-- Returns how many left the outbox.

-- include permit
local now, fields, ends, again, over, first = now_ms(), {}, {}, {}, {}, nil
for i = 4, #ARGV, 2 do
  local ticket, digit = ARGV[i], ARGV[i + 1]
  local _, id = ticket_read(ticket)
  -- Another relay's, where this one took too long.
  local ours = id and redis.call('ZSCORE', outbox, ticket) == ARGV[1]
  local stored = ours and redis.call('HGET', msg, id)
  if stored and ARGV[3] ~= '' then
    local tries = tonumber(string.match(redis.call('HGET', handover, id) or '', '^(%d+) ') or 0)
    local at = now + math.min(1000 * 2 ^ math.min(tries, 20), 300000)
    again[#again + 1], again[#again + 2] = string.format('%d', at), ticket
    fields[#fields + 1], fields[#fields + 2] = id, string.format('%d ', tries + 1) .. ARGV[2] .. ': ' .. ARGV[3]
    first = math.min(first or at, at)
  elseif ours then
    table.insert(gone.tickets, ticket)
    over[#over + 1] = id
    if tonumber(digit) == DUEQ_DUPLICATE and stored and string.byte(stored) ~= 0xD2 then
      ends[#ends + 1], ends[#ends + 2] = string.format('%d', now), ticket
    else
      table.insert(gone.ids, id)
      table.insert(gone.records, id)
    end
  end
end
if #again > 0 then
  redis.call('ZADD', outbox, unpack(again))
  redis.call('HSET', handover, unpack(fields))
end
if #ends > 0 then
  redis.call('ZADD', dead, unpack(ends))
end
local rest = redis.call('ZRANGE', outbox, 0, #gone.tickets, 'WITHSCORES')
local head
for i = 1, #rest, 2 do
  local leaves = false
  for _, ticket in ipairs(gone.tickets) do
    leaves = leaves or ticket == rest[i]
  end
  head = head or (not leaves and rest[i + 1])
end
redis.call('HSET', meta, 'outbox_event', head and string.format('%d', math.ceil(head)) or '', 'outbox_error',
  ARGV[3] ~= '' and ARGV[2] .. ': ' .. ARGV[3] or '')
if head then
  note_event(math.ceil(head), now)
end
remove_gone(outbox)
if #over > 0 then
  redis.call('HDEL', handover, unpack(over))
end
return #gone.tickets
