-- ack_member: as ack_end, of one message whose envelope says no more than its batch, of this queue.
-- Where the batch ends, the queue has limits, or the lease is lost, it changes nothing and answers
-- nil.
-- keys msg leased meta reply started batches
-- includes batch_record keep_reply_inline return_problem
-- args as ack_end
-- passes on to ack_end
-- Returns a digit: 0 finished; or nil.
local ticket = ARGV[6]
local id = ARGV[5] == '' and string.match(ticket, '^0%.!:(.+)$')
local envelope = id and redis.pcall('HGET', msg, id)
-- The version, and the flag of a policy.
if type(envelope) ~= 'string' or #envelope < 8 or string.sub(envelope, 1, 2) ~= '\211\16' then
  return nil
end
local size, field, length = struct.unpack('>HBB', envelope, 5)
if field ~= 6 or size ~= length + 2 then
  return nil
end
local name = string.sub(envelope, 9, 8 + length)
local text = redis.pcall('HGET', batches, name)
local state = redis.pcall('HMGET', meta, 'limited', 'held')
local b = type(text) == 'string' and batch_read(text)
if not b or state.err or state[1] or state[2] == '1' or b.state == 1
  and batch_left(b) <= 1 then
  return nil
end
local left = redis.pcall('ZREM', leased, ticket)
if left ~= 1 then
  local problem = type(left) == 'table' and left
  -- include return_problem
  return nil
end
b.acked = b.acked + 1
redis.call('HSET', batches, name, batch_write(b))
redis.call('HDEL', msg, id)
redis.pcall('HDEL', started, id)
redis.pcall('HINCRBY', meta, 'acked', '1')
local answer = '0'
-- include keep_reply_inline
return answer
