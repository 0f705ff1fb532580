-- defines wake_one; needs wake
-- Sets a wake token, so that one waiting consumer looks. If the key has another type, the waiting
-- consumers report that: what was stored must not fail. many: there is work for two. Each of the
-- two finds more, and wakes two again, so that a burst reaches all consumers in a few steps, and
-- not one by one.
local function wake_one(many)
  if many then
    redis.pcall('ZADD', wake, 0, 'w', 0, 'x')
  else
    redis.pcall('ZADD', wake, 0, 'w')
  end
end
