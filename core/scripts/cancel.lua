-- cancel: removes a delayed message that was never delivered. For any other it changes nothing and
-- answers nil, and the client runs cancel_full.
-- keys msg delayed meta reply
-- includes return_problem keep_reply_inline
-- args id
-- passes on to cancel_full
-- Returns a digit: 2, as cancel_full, or nil.
local id = ARGV[4]
local envelope = redis.pcall('HGET', msg, id)
-- An error has no length, and a text has one. Asking for the length is cheaper than for the type.
if envelope and #envelope == 0 then
  local problem = envelope ~= '' and envelope
  -- include return_problem
end
local version, flags = string.byte(envelope or '', 1, 2)
if version ~= 0xD1 or not flags or flags >= 32 then
  return nil
end
local ticket = flags % 2 == 1 and '0.' .. string.sub(envelope, 5, 14) .. ':' .. id or id
if redis.call('ZREM', delayed, ticket) == 0 then
  return nil
end
redis.call('HDEL', msg, id)
redis.pcall('HINCRBY', meta, 'cancelled', '1')
local answer = '2'
-- include keep_reply_inline
return answer
