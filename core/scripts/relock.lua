-- relock: sets a new end of a lock, for its owner. Giving a lock up wakes a client that waits for
-- it.
-- keys lock lock_wake reply
-- includes keep_reply
-- args token, time to live in ms from now (0: the owner gives the lock up)
-- Returns a digit: 0 done, 4 the token is not the owner's.

if redis.call('GET', lock) ~= ARGV[4] then
  return keep_reply(DUEQ_LEASE_LOST)
end
redis.call('PEXPIRE', lock, ARGV[5])
if ARGV[5] == '0' then
  redis.pcall('ZADD', lock_wake, 0, 'w')
  -- Each client tries the lock before it waits. So a wake token that no client takes may expire.
  redis.pcall('EXPIRE', lock_wake, 60)
end
return keep_reply(DUEQ_OK)
