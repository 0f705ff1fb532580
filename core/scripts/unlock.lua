-- unlock: gives a lock up, for its owner, and wakes one who waits for it.
-- keys lock lock_wake reply
-- args token
-- Returns a digit: 0 done, 4 the token is not the owner's.

local outcome = DUEQ_LEASE_LOST
if redis.call('GET', lock) == ARGV[4] then
  redis.call('DEL', lock)
  redis.pcall('ZADD', lock_wake, 0, 'w')
  -- Where nobody waits, the token need not stay: whoever comes tries first.
  redis.pcall('EXPIRE', lock_wake, 60)
  outcome = DUEQ_OK
end
return done(outcome)
