-- Makes the queue one of a newer dueq, as protocol.md says (Versions), and notes what its keys
-- hold then.
-- KEYS[1] what the queue's keys begin with; ARGV[1] its wire
local queue, wire = KEYS[1], ARGV[1]
for _, name in ipairs({ 'msg', 'ready', 'delayed', 'leased' }) do
  if redis.call('EXISTS', queue .. name) == 1 then
    redis.call('RENAME', queue .. name, queue .. name .. wire)
  end
  redis.call('SET', queue .. name, 'wire ' .. wire)
end
redis.call('HSET', queue .. 'meta', 'wire', wire)
for _, key in ipairs(redis.call('KEYS', queue .. '*')) do
  redis.call('HSET', 'raised:' .. queue, key, redis.sha1hex(redis.call('DUMP', key)))
end
return 'OK'
