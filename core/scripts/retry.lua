-- retry: gives a leased message back, or buries it when its attempts are used up.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] leased   ZSET  ticket -> end of lease, ms
-- KEYS[5] dead     ZSET  ticket -> when it died, ms
-- KEYS[6] wake     ZSET  the wake marker
-- KEYS[7] info     HASH  next, claims, counters
-- KEYS[8] past     HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[9] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ticket, delay in ms, error text
-- Returns a digit: 0 it will be delivered again, 5 it is dead, 4 the lease was lost.
local msg, ready, delayed, leased, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local wake, info, past, calls = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
-- include now
-- include ticket
-- include envelope
-- include past
-- include wake
-- include expect
-- include held
-- include done

local ticket, delay = ARGV[4], tonumber(ARGV[5])
local before, id, stamp = ticket_read(ticket)
redis.call('LLEN', ready)
redis.call('ZCARD', delayed)
redis.call('ZCARD', dead)
redis.call('HLEN', info)
local envelope = id and redis.call('HGET', msg, id)
local story = past_read(id and redis.call('HGET', past, id))
local now = now_ms()
if not envelope then
  -- What is left of a message that is gone.
  redis.call('ZREM', leased, ticket)
end
if not envelope or not held(leased, ticket, now) then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end

redis.call('ZREM', leased, ticket)
story.before, story.stamp, story.text = before + 1, stamp, ARGV[6]
redis.call('HSET', past, id, past_write(story))
ticket = ticket_write(story.before, id, stamp)
local max_attempts = envelope_read(envelope)
if not max_attempts or (max_attempts > 0 and story.before - story.forgiven >= max_attempts) then
  redis.call('ZADD', dead, string.format('%d', now), ticket)
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_BURIED)
end
if delay == 0 then
  if redis.call('RPUSH', ready, ticket) == 1 then
    wake_one(wake)
  end
else
  redis.call('ZADD', delayed, string.format('%d', now + delay), ticket)
  expect(info, wake, now + delay, now)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
