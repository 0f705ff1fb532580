-- push: stores messages that are due now. The core made their ids, so no message can have them yet.
-- keys msg ready wake meta reply
-- includes return_problem wake keep_reply_inline
-- args id, envelope of each
-- Returns a digit for each: 0 stored.
local argv = ARGV
local n, number, length = (#argv - 3) / 2, '1', nil
-- Tickets come first: a reserve drops a ticket without a message.
if n == 1 then
  length = redis.pcall('RPUSH', ready, argv[4])
else
  local tickets = {}
  for i = 1, n do
    tickets[i] = argv[2 * i + 2]
  end
  length = redis.pcall('RPUSH', ready, unpack(tickets))
  number = string.format('%d', n)
end
if length ~= n then
  local problem = type(length) == 'table' and length
  -- include return_problem
end
redis.call('HSET', msg, unpack(argv, 4))
if length == n then
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
