-- Lets time pass for a queue: all that is delayed or leased comes ARGV[1] ms nearer.
-- KEYS[1] what the queue's keys begin with
local ms = tonumber(ARGV[1])
for _, name in ipairs({ 'delayed', 'leased' }) do
  local set = KEYS[1] .. name
  for _, ticket in ipairs(redis.call('ZRANGE', set, 0, -1)) do
    redis.call('ZINCRBY', set, -ms, ticket)
  end
end
if redis.call('HEXISTS', KEYS[1] .. 'info', 'next') == 1 then
  redis.call('HINCRBY', KEYS[1] .. 'info', 'next', -ms)
end
return 'OK'
