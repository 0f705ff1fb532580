-- ack: finishes leased messages.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> attempts, crashes, last error
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, tickets ...
-- Returns one digit for each ticket: 0 finished, 4 the lease was lost.
local msg, leased, past, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include ticket
-- include done

local argv, match = ARGV, string.match
local n = #argv - 3
local ids, came_back = {}, false
for i = 1, n do
  local id = match(argv[i + 3], '^1:(.*)$')
  if not id then
    id, came_back = select(2, ticket_read(argv[i + 3])), true
  end
  ids[i] = id or ''
end

redis.call('HLEN', msg)
if came_back then
  redis.call('HLEN', past)
end
local now = now_ms()
local noted = tonumber(redis.pcall('HGET', info, 'next'))
local outcome
if noted and noted > now then
  -- No lease has ended: whoever is in the set holds.
  local removed = redis.call('ZREM', leased, unpack(argv, 4))
  if removed == n then
    outcome = string.rep('0', n)
  elseif removed == 0 then
    outcome, ids = string.rep('4', n), {}
  else
    -- Some tickets are stale. A held one is the next after the message's past; a stale one is not: each
    -- end of a lease has raised the past, or the body is gone or (another stamp) of a later push.
    -- include past
    local mark, kept, seen = {}, {}, {}
    for i = 1, n do
      local attempt, id, stamp = ticket_read(argv[i + 3])
      local envelope = id and redis.call('HGET', msg, id)
      mark[i] = DUEQ_LEASE_LOST
      if
        envelope
        and not seen[id]
        and attempt == past_read(redis.call('HGET', past, id)) + 1
        and (not stamp or stamp == string.sub(envelope, 5, 14))
      then
        mark[i] = DUEQ_OK
        seen[id] = true
        kept[#kept + 1] = id
      end
    end
    outcome, ids = table.concat(mark), kept
  end
else
  -- include held
  local mark, kept = {}, {}
  for i = 1, n do
    mark[i] = DUEQ_LEASE_LOST
    if held(leased, argv[i + 3], now) then
      redis.call('ZREM', leased, argv[i + 3])
      mark[i] = DUEQ_OK
      kept[#kept + 1] = ids[i]
    end
  end
  outcome, ids = table.concat(mark), kept
end

if #ids > 0 then
  redis.call('HDEL', msg, unpack(ids))
  if came_back then
    redis.call('HDEL', past, unpack(ids))
  end
  redis.pcall('HINCRBY', info, 'acked', #ids)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], outcome)
