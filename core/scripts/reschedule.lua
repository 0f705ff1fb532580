-- reschedule: gives a delayed message another due time.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] wake       ZSET  the wake marker
-- KEYS[7] info       HASH  next, claims, lists, counters
-- KEYS[8] past       HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] reply      STRING  what the session's last call answered
-- ARGV    number, keep, minute, id, due: '0' (now), '+ms' from now or '@ms' since 1970
-- Returns a digit: 0 done, 3 there is no such delayed message.
-- include now
-- include due
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include line
-- include wake
-- include expect
-- include done

local id, keys = ARGV[4], {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], wake = KEYS[6], info = KEYS[7],
  past = KEYS[8],
}
local now = now_ms()
local at = due_time(ARGV[5], now)
if at <= now then
  line_check(keys)
end
local envelope = redis.call('HGET', keys.msg, id)
local ticket = envelope and current_ticket(id, envelope, redis.call('HGET', keys.past, id))
if not ticket or redis.call('ZREM', keys.delayed, ticket) == 0 then
  return done(KEYS[9], DUEQ_NOT_FOUND)
end
if at > now then
  redis.call('ZADD', keys.delayed, string.format('%d', at), ticket)
  expect(keys.info, keys.wake, at, now)
elseif line_up(keys, { ticket }) then
  wake_one(keys.wake)
end
return done(KEYS[9], DUEQ_OK)
