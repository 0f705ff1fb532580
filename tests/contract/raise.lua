-- Makes the queue one of a newer dueq, as protocol.md says (Versions), and notes a hash of the
-- content of each of its keys.
-- KEYS[1] the prefix of the queue's keys; ARGV[1] the queue's wire version
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
