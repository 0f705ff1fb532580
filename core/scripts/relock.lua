-- relock: sets the end of a lock anew, for its owner.
-- KEYS[1] lock   STRING  its owner's token, with an end
-- KEYS[2] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute, token, time to live in ms from now
-- Returns a digit: 0 done, 4 the token is not the owner's.
local lock = KEYS[1]
-- include done

local outcome = DUEQ_LEASE_LOST
if redis.call('GET', lock) == ARGV[4] then
  redis.call('PEXPIRE', lock, ARGV[5])
  outcome = DUEQ_OK
end
return done(KEYS[2], outcome)
