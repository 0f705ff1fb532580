-- bury: sets a leased message aside as dead.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] dead    ZSET  ticket -> when it died, ms
-- KEYS[4] past    HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[5] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ticket, reason
-- Returns a digit: 0 done, 4 the lease was lost.
local msg, leased, dead, past, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include ticket
-- include past
-- include held
-- include done

local ticket = ARGV[4]
local before, id, stamp = ticket_read(ticket)
redis.call('ZCARD', dead)
local alive = id and redis.call('HEXISTS', msg, id) == 1
local story = past_read(id and redis.call('HGET', past, id))
local now = now_ms()
if not alive then
  -- What is left of a message that is gone.
  redis.call('ZREM', leased, ticket)
end
if not alive or not held(leased, ticket, now) then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end
redis.call('ZREM', leased, ticket)
story.before, story.stamp, story.text = before + 1, stamp, ARGV[5]
redis.call('ZADD', dead, string.format('%d', now), ticket_write(before + 1, id, stamp))
redis.call('HSET', past, id, past_write(story))
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
