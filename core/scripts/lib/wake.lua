-- Sets the wake marker: one waiting consumer will look. A foreign value under the key is the waiting
-- consumers' to report; what was stored must not fail by it.
local function wake_one(wake)
  redis.pcall('ZADD', wake, 0, 'w')
end
