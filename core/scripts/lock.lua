-- lock: takes a lock for a time, if nobody holds it.
-- KEYS[1] lock   STRING  its owner's token, with an end
-- KEYS[2] free   ZSET    the wake marker of those who wait for it
-- KEYS[3] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute, token, time to live in ms
-- Returns { now ms, -1, 0, 0, token } to the new owner, else { now ms, ms until it may be free, 1, 0 }.
local lock, free = KEYS[1], KEYS[2]
-- include now
-- include done

local now = now_ms()
if redis.call('GET', lock) ~= ARGV[4] and not redis.call('SET', lock, ARGV[4], 'NX', 'PX', ARGV[5]) then
  local left = redis.call('PTTL', lock)
  return { now, left < 0 and 1000 or left + 1, 1, 0 }
end
redis.pcall('ZREM', free, 'w')
done(KEYS[3], ARGV[4])
return { now, -1, 0, 0, ARGV[4] }
