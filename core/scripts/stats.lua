-- stats: counts the queue in O(1) and changes nothing.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] delayed  ZSET  ticket -> due, ms
-- KEYS[3] leased   ZSET  ticket -> end of lease, ms
-- KEYS[4] dead     ZSET  ticket -> when it died, ms
-- KEYS[5] info     HASH  next, claims, counters
-- Returns { now ms, ready, delayed, leased, dead, acked, cancelled, purged, damaged,
--           next due or end of lease (0: none), 1 if it is paused }.
local msg, delayed, leased, dead, info = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include int

local sets, first = {}, nil
for i, set in ipairs({ delayed, leased, dead }) do
  sets[i] = redis.call('ZCARD', set)
  local head = i < 3 and redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  if head and (not first or tonumber(head) < first) then
    first = tonumber(head)
  end
end
local ready = redis.call('HLEN', msg) - sets[1] - sets[2] - sets[3]
local counters = redis.call('HMGET', info, 'acked', 'cancelled', 'purged', 'damaged', 'paused')
return {
  int(now_ms()),
  math.max(ready, 0),
  sets[1],
  sets[2],
  sets[3],
  int(tonumber(counters[1] or '') or 0),
  int(tonumber(counters[2] or '') or 0),
  int(tonumber(counters[3] or '') or 0),
  int(tonumber(counters[4] or '') or 0),
  int(math.max(0, math.min(first or 0, 4102444800000))),
  counters[5] and 1 or 0,
}
