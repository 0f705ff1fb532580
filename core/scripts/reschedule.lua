-- reschedule: gives a delayed message another due time.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] wake       ZSET  the wake marker
-- KEYS[7] info       HASH  next, claims, lists, counters
-- KEYS[8] past       HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] outgoing   HASH  id -> due, ms, of messages that move to another queue
-- KEYS[10] reply     STRING  what the session's last call answered
-- OTHER   the keys of the queue that it moves to when due
-- ARGV    number, keep, minute, id, due: '0' (now), '+ms' from now or '@ms' since 1970
-- Returns a digit: 0 done, 3 there is no such delayed message; or '>NAME': it takes the keys of the queue NAME.
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
-- include other
-- include done

local id, keys, other = ARGV[4], {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], wake = KEYS[6], info = KEYS[7],
  past = KEYS[8], outgoing = KEYS[9],
}, other_keys(11)
line_check(keys)
redis.call('ZCARD', keys.delayed)
local now = now_ms()
local at = due_time(ARGV[5], now)
local envelope = redis.call('HGET', keys.msg, id)
local leaves = envelope and redis.call('HEXISTS', keys.outgoing, id) == 1 and (envelope_read(envelope) or {}).to
if leaves then
  if not other or other.queue ~= leaves then
    return '>' .. leaves
  end
  redis.call('ZCARD', other.incoming)
  redis.call('HLEN', other.info)
  at = math.max(at, now)
  redis.call('HSET', keys.outgoing, id, string.format('%d', at))
  redis.call('ZADD', other.incoming, string.format('%d', at), id .. '\n' .. queue_of(keys.msg))
  expect(other.info, other.wake, at, now)
  return done(KEYS[10], DUEQ_OK)
end
local ticket = envelope and current_ticket(id, envelope, redis.call('HGET', keys.past, id))
if not ticket or redis.call('ZREM', keys.delayed, ticket) == 0 then
  return done(KEYS[10], DUEQ_NOT_FOUND)
end
if at > now then
  redis.call('ZADD', keys.delayed, string.format('%d', at), ticket)
  expect(keys.info, keys.wake, at, now)
elseif line_up(keys, { ticket }) then
  wake_one(keys.wake)
end
return done(KEYS[10], DUEQ_OK)
