-- ack_noted: as ack_end, of one message that never came back, if lib/fast_noted.lua can read its
-- envelope. If the batch of the message may end, the queue has limits, or the lease is lost, it
-- changes nothing and answers nil.
-- keys msg leased meta reply started batches ends kept awaited
-- includes fast_ends fast_ends_write keep_reply_inline return_problem
-- args as ack_end
-- passes on to ack_end
-- Returns a digit: 0 finished; or nil.
local byte, format, sub, now = string.byte, string.format, string.sub, nil
local by, end_text, ticket = ARGV[4], ARGV[5], ARGV[6]
local state = redis.pcall('HMGET', meta, 'limited', 'held')
if state.err or state[1] or state[2] == '1' then
  return nil
end
local acked_tickets = { ticket }
-- include fast_ends
if not end_ids[1] then
  return nil
end
local left = redis.pcall('ZREM', leased, ticket)
if left ~= 1 then
  local problem = type(left) == 'table' and left
  -- include return_problem
  return nil
end
-- include fast_ends_write
redis.call('HDEL', msg, end_ids[1])
redis.pcall('HINCRBY', meta, 'acked', '1')
local answer = '0'
-- include keep_reply_inline
return answer
