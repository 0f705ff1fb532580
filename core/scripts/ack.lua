-- ack: finishes leased messages.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, '1' if all tickets are ids themselves, tickets ...
-- Returns one digit for each ticket: 0 finished, 4 the lease was lost.
local msg, leased, past, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include done

local argv, usual = ARGV, ARGV[4] == '1'
local n = #argv - 4

redis.call('HLEN', msg)
redis.call('HLEN', past)
local now = now_ms()
local noted = tonumber(redis.pcall('HGET', info, 'next'))
local outcome, ids
if noted and noted > now then
  -- No lease of this queue has ended: whoever is in the set holds.
  local removed = redis.call('ZREM', leased, unpack(argv, 5))
  if removed == n and usual then
    redis.call('HDEL', msg, unpack(argv, 5))
    redis.pcall('HINCRBY', info, 'acked', n)
    return done(calls, argv[1], argv[2], argv[3], string.rep('0', n))
  elseif removed == 0 then
    return done(calls, argv[1], argv[2], argv[3], string.rep('4', n))
  end
  -- Where some tickets are stale: their messages are gone, or have come back since, which raised their
  -- pasts and with them the tickets.
  -- include ticket
  -- include envelope
  -- include past
  -- include place
  local seen = {}
  outcome, ids = {}, {}
  for i = 5, #argv do
    local _, id = ticket_read(argv[i])
    local envelope = id and not seen[id] and redis.call('HGET', msg, id)
    outcome[i - 4] = DUEQ_LEASE_LOST
    if
      removed == n
      or (envelope and argv[i] == current_ticket(id, envelope, redis.call('HGET', past, id)))
    then
      outcome[i - 4], seen[id] = DUEQ_OK, true
      ids[#ids + 1] = id
    end
  end
else
  -- include ticket
  -- include held
  outcome, ids = {}, {}
  for i = 5, #argv do
    outcome[i - 4] = DUEQ_LEASE_LOST
    if held(leased, argv[i], now) then
      redis.call('ZREM', leased, argv[i])
      outcome[i - 4] = DUEQ_OK
      ids[#ids + 1] = select(2, ticket_read(argv[i]))
    end
  end
end

if #ids > 0 then
  redis.call('HDEL', msg, unpack(ids))
  redis.call('HDEL', past, unpack(ids))
  redis.pcall('HINCRBY', info, 'acked', #ids)
end
return done(calls, argv[1], argv[2], argv[3], table.concat(outcome))
