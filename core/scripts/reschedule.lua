-- reschedule: gives a delayed message another due time.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] wake     ZSET  the wake marker
-- KEYS[5] info     HASH  next, claims, counters
-- KEYS[6] past     HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[7] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, id, due: '0' (now), '+ms' from now or '@ms' since 1970
-- Returns a digit: 0 done, 3 there is no such delayed message.
local msg, ready, delayed, wake = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local info, past, calls = KEYS[5], KEYS[6], KEYS[7]
-- include now
-- include due
-- include ticket
-- include envelope
-- include past
-- include place
-- include wake
-- include expect
-- include done

local id = ARGV[4]
redis.call('LLEN', ready)
redis.call('HLEN', info)
local envelope = redis.call('HGET', msg, id)
local ticket = envelope and current_ticket(id, envelope, redis.call('HGET', past, id))
if not ticket or redis.call('ZREM', delayed, ticket) == 0 then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_NOT_FOUND)
end
local now = now_ms()
local at = due_time(ARGV[5], now)
if at > now then
  redis.call('ZADD', delayed, string.format('%d', at), ticket)
  expect(info, wake, at, now)
elseif redis.call('RPUSH', ready, ticket) == 1 then
  wake_one(wake)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
