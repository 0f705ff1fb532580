-- stats: counts the queue in O(1) and changes nothing.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] leased     ZSET  ticket -> end of lease, ms
-- KEYS[7] dead       ZSET  ticket -> when it died, ms
-- KEYS[8] info       HASH  next, claims, counters
-- KEYS[9] rates      LIST  the history
-- Returns { now ms, ready, delayed, leased, dead, pushed, reserved, acked, retried, expired, buried,
--           cancelled, purged, damaged, next due or end of lease (0: none), 1 if it is paused,
--           mark, the first ticket of ready, of high, of low ('': none) }.
-- The mark is a time, not over a minute before the first ticket came to `ready`, and never after (0: not
-- known). It is the last one noted (see lib/tally.lua) before as many tickets had come as there left since.
local msg, ready, high, low = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local info, rates = KEYS[8], KEYS[9]
-- include now
-- include int
-- include ticket

local sets, first = {}, nil
for i, set in ipairs({ KEYS[5], KEYS[6], KEYS[7] }) do
  sets[i] = redis.call('ZCARD', set)
  local head = i ~= 3 and redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if head and (not first or tonumber(head) < first) then
    first = tonumber(head)
  end
end
local all = redis.call('HLEN', msg)
local names = {
  'pushed', 'reserved', 'acked', 'retried', 'expired', 'buried', 'cancelled', 'purged', 'damaged', 'skew', 'paused',
}
local values = redis.call('HMGET', info, unpack(names))
local counters = {}
for i = 1, 9 do
  counters[i] = int(tonumber(values[i] or '') or 0)
end

-- The first ticket whose message lives, among the first ten; and its place.
local function head(line)
  for place, ticket in ipairs(redis.call('LRANGE', line, 0, 9)) do
    local _, id = ticket_read(ticket)
    if id and redis.call('HEXISTS', msg, id) == 1 then
      return ticket, place - 1
    end
  end
  return ''
end
local ticket, place = head(ready)
local mark = '0'
if place then
  local came = place + (tonumber(values[2] or '') or 0) + (tonumber(values[10] or '') or 0)
  for _, text in ipairs(redis.call('LRANGE', rates, 0, 359)) do
    local time, before = string.match(text, '^(%d+) (%d+) ')
    if time and tonumber(before) <= came then
      mark = time
      break
    end
  end
end
return {
  int(now_ms()), math.max(all - sets[1] - sets[2] - sets[3], 0), sets[1], sets[2], sets[3],
  counters[1], counters[2], counters[3], counters[4], counters[5], counters[6], counters[7], counters[8], counters[9],
  int(math.max(0, math.min(first or 0, 4102444800000))), values[11] and 1 or 0,
  mark, ticket, (head(high)), (head(low)),
}
