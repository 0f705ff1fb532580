-- ack_push: finishes a leased message and pushes its successors.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] ready   LIST  tickets in delivery order
-- KEYS[3] leased  ZSET  ticket -> end of lease, ms
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] past    HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[6] reply   STRING  what the session's last call answered
-- KEYS[7] rates   LIST  the history
-- OTHER   the keys of the queue that the successors are pushed to, which may be the same
-- ARGV    number, keep, minute, ticket, then id, envelope, due, extra for each, as of push
-- Returns digits: of the message, 0 finished or 4 the lease was lost; then one for each successor, as of
-- push, or 4 as well.
local msg, leased, info, past = KEYS[1], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include due
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include line
-- include wake
-- include expect
-- include held
-- include other
-- include store
-- include int
-- include totals
-- include tally
-- include done

local ticket, now = ARGV[4], now_ms()
if ARGV[3] == '1' then
  tally(info, KEYS[2], KEYS[7], now)
end
local target = other_keys(8)
-- What may fail fails before the message goes.
store_check(target)
redis.call('HLEN', past)
local _, id = ticket_read(ticket)
if not id or redis.call('HEXISTS', msg, id) == 0 or not held(leased, ticket, now) then
  return done(KEYS[6], string.rep(DUEQ_LEASE_LOST, 1 + (#ARGV - 4) / 4))
end
-- The message goes first, so that a successor may have its id.
redis.call('ZREM', leased, ticket)
redis.call('HDEL', msg, id)
redis.call('HDEL', past, id)
local outcome = store(target, 5, now)
if outcome.err then
  return outcome
end
count(info, 'acked', 1)
return done(KEYS[6], DUEQ_OK .. outcome)
