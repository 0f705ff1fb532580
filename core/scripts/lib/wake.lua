-- defines wake_one; needs wake
-- Sets a wake token: one waiting consumer will look. A foreign value under the key is the waiting
-- consumers' to
-- report; what was stored must not fail by it.
-- `many`: there is work for two. Each of them finds more and wakes two again, so that a burst
-- reaches
-- all in a few steps, and not one after the other.
local function wake_one(many)
  if many then
    redis.pcall('ZADD', wake, 0, 'w', 0, 'x')
  else
    redis.pcall('ZADD', wake, 0, 'w')
  end
end
