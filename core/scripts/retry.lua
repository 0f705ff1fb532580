-- retry: gives a leased message back, or ends it when its attempts are used up.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] delayed   ZSET  ticket -> due, ms
-- KEYS[6] leased    ZSET  ticket -> end of lease, ms
-- KEYS[7] dead      ZSET  ticket -> when it died, ms
-- KEYS[8] wake      ZSET  the wake marker
-- KEYS[9] info      HASH  next, claims, lists, counters
-- KEYS[10] past     HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[11] calls    HASH  session -> its last call and answer
-- OTHER   its dead-letter queue's keys
-- ARGV    session, call number, fresh, ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error text
-- Returns a digit: 0 it will be delivered again, 5 that was its end, 4 the lease was lost; or '>NAME': its end
-- takes the keys of the queue NAME.
local calls = KEYS[11]
-- include now
-- include ticket
-- include name
-- include envelope
-- include past
-- include count
-- include line
-- include wake
-- include expect
-- include held
-- include holder
-- include other
-- include finish
-- include backoff
-- include done

local keys, other = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = KEYS[6],
  dead = KEYS[7], wake = KEYS[8], info = KEYS[9], past = KEYS[10],
}, other_keys(12)
line_check(keys)
redis.call('ZCARD', keys.delayed)
finish_check(keys, other)
local now = now_ms()
local id, tag, envelope, story = holder(keys, ARGV[4], now)
if not id then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end
story.text = ARGV[7]
local e = envelope_read(envelope)
local failed = failures(story)
local spent = not e or (e.max_attempts > 0 and failed >= e.max_attempts)
local needs = spent and finish_needs(keys.msg, e, other)
if needs then
  return '>' .. needs
end

redis.call('ZREM', keys.leased, ARGV[4])
count(keys.info, 'retried', 1)
local ticket = ticket_write(story.before, id, tag)
if spent then
  finish(keys, e, id, ticket, story, now, other)
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_BURIED)
end
redis.call('HSET', keys.past, id, past_write(story))
local delay = tonumber(ARGV[5])
if delay < 0 then
  delay = e.backoff and backoff_ms(e.backoff, failed, tonumber(ARGV[6])) or 0
end
if delay > 0 then
  redis.call('ZADD', keys.delayed, string.format('%d', now + delay), ticket)
  expect(keys.info, keys.wake, now + delay, now)
elseif line_up(keys, { ticket }) then
  wake_one(keys.wake)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
