-- release: gives leased messages back as if they had not been delivered: at the fronts of their lines, in
-- their order, or delayed.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] delayed   ZSET  ticket -> due, ms
-- KEYS[6] leased    ZSET  ticket -> end of lease, ms
-- KEYS[7] wake      ZSET  the wake marker
-- KEYS[8] info      HASH  next, claims, lists, counters
-- KEYS[9] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[10] reply    STRING  what the session's last call answered
-- ARGV    number, keep, minute, delay in ms, tickets ...
-- Returns one digit for each: 0 done, 4 the lease was lost.
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
local now, delay = now_ms(), tonumber(ARGV[4])
local outcome, back, pasts = {}, {}, {}
for i = 5, #ARGV do
  local id, tag, _, story = holder(keys, ARGV[i], now)
  outcome[i - 4] = id and DUEQ_OK or DUEQ_LEASE_LOST
  if id then
    redis.call('ZREM', keys.leased, ARGV[i])
    story.forgiven = story.forgiven + 1
    back[#back + 1] = ticket_write(story.before, id, tag)
    pasts[#pasts + 1], pasts[#pasts + 2] = id, past_write(story)
  end
end
if #back > 0 then
  redis.call('HSET', keys.past, unpack(pasts))
end
local was_empty, normal, others = false, 0, 0
-- From the last to the first: so they stand at the front in their order.
for i = #back, 1, -1 do
  local ticket = back[i]
  if delay > 0 then
    redis.call('ZADD', keys.delayed, string.format('%d', now + delay), ticket)
  else
    local line = line_of(ticket)
    was_empty = redis.call('LPUSH', keys[line], ticket) == 1 or was_empty
    normal, others = normal + (line == 'ready' and 1 or 0), others + (line == 'ready' and 0 or 1)
  end
end
if #back > 0 and delay > 0 then
  expect(keys.info, keys.wake, now + delay, now)
end
if was_empty then
  wake_one(keys.wake)
end
if normal > 0 then
  count(keys.info, 'skew', -normal)
end
if others > 0 then
  redis.call('HSET', keys.info, 'lists', '1')
end
return done(KEYS[10], table.concat(outcome))
