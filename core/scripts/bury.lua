-- bury: sets a leased message aside as dead.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] dead    ZSET  ticket -> when it died, ms
-- KEYS[4] past    HASH  id -> attempts, crashes, last error
-- KEYS[5] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ticket, reason
-- Returns a digit: 0 done, 4 the lease was lost.
local msg, leased, dead, past, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include ticket
-- include past
-- include done

local attempt, id = ticket_read(ARGV[4])
redis.call('ZCARD', dead)
local alive = id and redis.call('HEXISTS', msg, id) == 1
local _, crashes = past_read(id and redis.call('HGET', past, id))
if redis.call('ZREM', leased, ARGV[4]) == 0 or not alive then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end
redis.call('ZADD', dead, string.format('%d', now_ms()), ARGV[4])
redis.call('HSET', past, id, past_write(attempt, crashes, ARGV[5]))
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
