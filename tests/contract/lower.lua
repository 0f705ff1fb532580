-- Undoes raise.lua.
-- KEYS[1] the prefix of the queue's keys; ARGV[1] the queue's wire version
-- Returns the keys that have changed since raise.lua.
local queue, wire = KEYS[1], ARGV[1]
local noted, changed = redis.call('HGETALL', 'raised:' .. queue), {}
for i = 1, #noted, 2 do
  local value = redis.call('DUMP', noted[i])
  if not value or redis.sha1hex(value) ~= noted[i + 1] then
    changed[#changed + 1] = noted[i]
  end
end
for _, key in ipairs(redis.call('KEYS', queue .. '*')) do
  if redis.call('HEXISTS', 'raised:' .. queue, key) == 0 then
    changed[#changed + 1] = key
  end
end
redis.call('DEL', 'raised:' .. queue)
redis.call('HDEL', queue .. 'meta', 'wire')
for _, name in ipairs({ 'msg', 'ready', 'delayed', 'leased' }) do
  local key, aside = queue .. name, queue .. name .. wire
  if redis.call('TYPE', key).ok == 'string' then
    redis.call('DEL', key)
  end
  if redis.call('EXISTS', aside) == 1 then
    redis.call('RENAME', aside, key)
  end
end
return changed
