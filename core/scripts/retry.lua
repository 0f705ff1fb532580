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
-- KEYS[11] reply    STRING  what the session's last call answered
-- OTHER   its dead-letter queue's keys
-- ARGV    number, keep, minute, ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error text
-- Returns a digit: 0 it will be delivered again, 5 that was its end, 4 the lease was lost; or '>NAME': its end
-- takes the keys of the queue NAME.
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
-- include retry
-- include done

local keys, other = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = KEYS[6],
  dead = KEYS[7], wake = KEYS[8], info = KEYS[9], past = KEYS[10],
}, other_keys(12)
local now = now_ms()
local found = retry_look(keys, ARGV[4], now, other)
if found.needs then
  return '>' .. found.needs
end
local outcome = retry(keys, found, ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], now, other)
return done(KEYS[11], outcome)
