-- ack: finishes leased messages.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] calls   HASH  session -> its last call and answer
-- KEYS[6] ready   LIST  tickets in delivery order
-- KEYS[7] rates   LIST  the history
-- ARGV    session, call number, fresh, '1' if all tickets are ids themselves, tickets ...
-- Returns one digit for each ticket: 0 finished, 4 the lease was lost.
local msg, leased, past, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include count
-- include done

local call, argv = redis.call, ARGV
local n = #argv - 4
call('HLEN', msg)
call('HLEN', past)
local now = now_ms()
if argv[3] >= '2' then
  -- include int
  -- include totals
  -- include tally
  tally(info, KEYS[6], KEYS[7], now)
end
local noted = tonumber(redis.pcall('HGET', info, 'next'))
-- A lease ends at its time, also before a reserve moves the message.
local check = not noted or noted <= now
-- include held
local lost
for i = 5, #argv do
  local ticket = argv[i]
  if (check and not held(leased, ticket, now)) or call('ZREM', leased, ticket) == 0 then
    lost = lost or {}
    lost[i] = true
  end
end
if not lost and argv[4] == '1' then
  call('HDEL', msg, unpack(argv, 5))
  count(info, 'acked', n)
  return done(calls, argv[1], argv[2], argv[3], string.rep('0', n))
end

-- include ticket
local outcome, ids = {}, {}
for i = 1, n do
  if lost and lost[i + 4] then
    outcome[i] = DUEQ_LEASE_LOST
  else
    outcome[i] = DUEQ_OK
    ids[#ids + 1] = select(2, ticket_read(argv[i + 4]))
  end
end
if #ids > 0 then
  call('HDEL', msg, unpack(ids))
  call('HDEL', past, unpack(ids))
  count(info, 'acked', #ids)
end
return done(calls, argv[1], argv[2], argv[3], table.concat(outcome))
