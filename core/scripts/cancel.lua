-- cancel: removes a delayed message that was never delivered. For any other it changes nothing and
-- answers nil, and the client runs cancel_full.
-- keys msg delayed meta reply
-- includes plain_ticket keep_reply_inline
-- args id
-- passes on to cancel_full
-- Returns a digit: 2, as cancel_full, or nil.
local id = ARGV[4]
-- include plain_ticket
if redis.call('ZREM', delayed, ticket) == 0 then
  return nil
end
redis.call('HDEL', msg, id)
redis.pcall('HINCRBY', meta, 'cancelled', '1')
local answer = '2'
-- include keep_reply_inline
return answer
