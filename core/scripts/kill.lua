-- kill: makes delayed messages dead, so that they are kept, and not delivered, until they are kicked.
-- keys msg delayed dead meta attempts reply
-- args ids
-- Returns a digit for each: 0 it is dead, 3 there is no such delayed message.

-- include permit
local now = string.format('%d', now_ms())
local outcome, tickets, ends, seen = {}, {}, {}, {}
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = not seen[id] and redis.call('HGET', msg, id)
  local ticket = envelope and current_ticket(id, envelope, redis.call('HGET', attempts, id))
  local found = ticket and redis.call('ZSCORE', delayed, ticket)
  seen[id] = true
  outcome[#outcome + 1] = found and DUEQ_OK or DUEQ_NOT_FOUND
  if found then
    tickets[#tickets + 1] = ticket
    ends[#ends + 1], ends[#ends + 2] = now, ticket
  end
end
if #tickets > 0 then
  redis.call('ZADD', dead, unpack(ends))
  redis.call('ZREM', delayed, unpack(tickets))
  count('died', #tickets)
end
return done(table.concat(outcome))
