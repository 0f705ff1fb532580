-- push_group_sort: as push_group, where tickets wait in `ready`.
-- keys msg ready groups lines turns wake meta reply
-- includes envelope_suffix wake return_problem help_sort keep_reply_inline
-- args as push_group
-- Returns a digit for each: 0 stored.
local tickets, n = {}, (#ARGV - 3) / 2
for i = 1, n do
  local id, suffix = ARGV[2 * i + 2], envelope_suffix(ARGV[2 * i + 3])
  tickets[i] = suffix and '0.' .. suffix .. ':' .. id or id
end
-- Tickets come first: a reserve drops a ticket without a message.
local length = redis.pcall('RPUSH', ready, unpack(tickets))
if type(length) == 'table' then
  local problem = length
  -- include return_problem
end
redis.call('HSET', msg, unpack(ARGV, 4))
-- From now on reserve_groups serves the queue, and the fast reserve passes calls on.
if redis.call('HSETNX', meta, 'turns', '0 0') == 1 then
  redis.call('HSET', meta, 'has_priorities', '1')
end
if length == n then
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', string.format('%d', n))
help_sort(n)
local answer = string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
