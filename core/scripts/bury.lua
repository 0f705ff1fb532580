-- bury: ends a leased message, as its policy says.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] dead    ZSET  ticket -> when it died, ms
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] past    HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[6] reply   STRING  what the session's last call answered
-- OTHER   its dead-letter queue's keys
-- ARGV    number, keep, minute, ticket, reason
-- Returns a digit: 0 done, 4 the lease was lost; or '>NAME': its end takes the keys of the queue NAME.
-- include now
-- include ticket
-- include name
-- include envelope
-- include past
-- include count
-- include line
-- include wake
-- include held
-- include holder
-- include other
-- include finish
-- include done

local keys, other = { msg = KEYS[1], leased = KEYS[2], dead = KEYS[3], info = KEYS[4], past = KEYS[5] }, other_keys(7)
finish_check(keys, other)
local now = now_ms()
local id, tag, envelope, story = holder(keys, ARGV[4], now)
if not id then
  return done(KEYS[6], DUEQ_LEASE_LOST)
end
local e = envelope_read(envelope)
local needs = finish_needs(keys.msg, e, other)
if needs then
  return '>' .. needs
end
story.text = ARGV[5]
redis.call('ZREM', keys.leased, ARGV[4])
finish(keys, e, id, ticket_write(story.before, id, tag), story, now, other)
return done(KEYS[6], DUEQ_OK)
