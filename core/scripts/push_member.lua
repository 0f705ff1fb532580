-- push_member: as push, of messages that become members of a batch of this queue.
-- keys msg ready wake meta reply batches
-- includes return_problem wake keep_reply_inline batch_record batch_to_fill
-- args batch, then id, envelope of each
-- Returns a digit for each: 0 stored; or an error, INVALID: there is no such batch.
local argv = ARGV
local n, tickets = (#argv - 4) / 2, {}
-- include batch_to_fill
for i = 1, n do
  tickets[i] = '0.!:' .. argv[2 * i + 3]
end
-- Tickets come first: a reserve drops a ticket without a message.
local length = redis.pcall('RPUSH', ready, unpack(tickets))
local problem = type(length) == 'table' and length
-- include return_problem
redis.call('HSET', msg, unpack(argv, 5))
batch.pushed = batch.pushed + n
redis.call('HSET', batches, argv[4], batch_write(batch))
if length == n then
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', string.format('%d', n))
local answer = string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
