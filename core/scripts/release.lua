-- release: gives a leased message back as if it had not been delivered: at the front of its line, or delayed.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] delayed   ZSET  ticket -> due, ms
-- KEYS[6] leased    ZSET  ticket -> end of lease, ms
-- KEYS[7] wake      ZSET  the wake marker
-- KEYS[8] info      HASH  next, claims, lists, counters
-- KEYS[9] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[10] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ticket, delay in ms
-- Returns a digit: 0 done, 4 the lease was lost.
local calls = KEYS[10]
-- include now
-- include ticket
-- include past
-- include count
-- include line
-- include wake
-- include expect
-- include held
-- include holder
-- include done

local keys = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = KEYS[6],
  wake = KEYS[7], info = KEYS[8], past = KEYS[9],
}
line_check(keys)
redis.call('ZCARD', keys.delayed)
local now, delay = now_ms(), tonumber(ARGV[5])
local id, tag, _, story = holder(keys, ARGV[4], now)
if not id then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end
story.forgiven = story.forgiven + 1
local ticket = ticket_write(story.before, id, tag)
redis.call('ZREM', keys.leased, ARGV[4])
redis.call('HSET', keys.past, id, past_write(story))
if delay > 0 then
  redis.call('ZADD', keys.delayed, string.format('%d', now + delay), ticket)
  expect(keys.info, keys.wake, now + delay, now)
else
  local line = line_of(ticket)
  if redis.call('LPUSH', keys[line], ticket) == 1 then
    wake_one(keys.wake)
  end
  if line == 'ready' then
    count(keys.info, 'skew', -1)
  else
    redis.call('HSET', keys.info, 'lists', '1')
  end
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
