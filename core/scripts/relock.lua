-- relock: sets the end of a lock anew, for its owner. One that is given up wakes one who waits for
-- it.
-- keys lock lock_wake reply
-- includes keep_reply
-- args token, time to live in ms from now (0: it is given up)
-- Returns a digit: 0 done, 4 the token is not the owner's.

if redis.call('GET', lock) ~= ARGV[4] then
  return keep_reply(DUEQ_LEASE_LOST)
end
redis.call('PEXPIRE', lock, ARGV[5])
if ARGV[5] == '0' then
  redis.pcall('ZADD', lock_wake, 0, 'w')
  -- Where nobody waits, the token need not stay: whoever comes tries first.
  redis.pcall('EXPIRE', lock_wake, 60)
end
return keep_reply(DUEQ_OK)
