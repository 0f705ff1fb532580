-- ack: finishes leased messages.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] reply   STRING  what the session's last call answered
-- KEYS[6] ready   LIST  tickets in delivery order
-- KEYS[7] rates   LIST  the history
-- ARGV    number, keep, minute, '1' if all tickets are ids themselves, tickets ...
-- Returns one digit for each ticket: 0 finished, 4 the lease was lost.
local info = KEYS[4]
-- include now
-- include count
-- include done
-- include ack

local now = now_ms()
if ARGV[3] == '1' then
  -- include int
  -- include totals
  -- include tally
  tally(info, KEYS[6], KEYS[7], now)
end
local first = tonumber(redis.pcall('HGET', info, 'next'))
local outcomes, finished = ack(KEYS[1], KEYS[2], KEYS[3], 5, #ARGV, ARGV[4] == '1', first, now)
if finished > 0 then
  count(info, 'acked', finished)
end
return done(KEYS[5], outcomes)
