-- relock: sets the end of a lock anew, for its owner.
-- keys lock reply
-- args token, time to live in ms from now
-- Returns a digit: 0 done, 4 the token is not the owner's.

local outcome = DUEQ_LEASE_LOST
if redis.call('GET', lock) == ARGV[4] then
  redis.call('PEXPIRE', lock, ARGV[5])
  outcome = DUEQ_OK
end
return done(outcome)
