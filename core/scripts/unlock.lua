-- unlock: gives a lock up, for its owner, and wakes one who waits for it.
-- KEYS[1] lock   STRING  its owner's token, with an end
-- KEYS[2] free   ZSET    the wake marker of those who wait for it
-- KEYS[3] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute, token
-- Returns a digit: 0 done, 4 the token is not the owner's.
local lock, free = KEYS[1], KEYS[2]
-- include wake
-- include done

local outcome = DUEQ_LEASE_LOST
if redis.call('GET', lock) == ARGV[4] then
  redis.call('DEL', lock)
  wake_one(free)
  -- Where nobody waits, the marker need not stay: whoever comes tries first.
  redis.pcall('EXPIRE', free, 60)
  outcome = DUEQ_OK
end
return done(KEYS[3], outcome)
