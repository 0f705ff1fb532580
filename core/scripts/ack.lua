-- ack: finishes leased messages.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> attempts, crashes, last error
-- KEYS[4] info    HASH  next, claims, counters
-- KEYS[5] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, tickets ...
-- Returns one digit for each ticket: 0 finished, 4 the lease was lost.
local msg, leased, past, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include ticket
-- include done

local argv, match = ARGV, string.match
local n = #argv - 3
local ids, came_back = {}, {}
for i = 1, n do
  local id = match(argv[i + 3], '^1:(.*)$')
  if id then
    ids[i] = id
  else
    local attempt
    attempt, id = ticket_read(argv[i + 3])
    ids[i] = id or ''
    if attempt ~= 1 then
      came_back[#came_back + 1] = ids[i]
    end
  end
end

redis.call('HLEN', past)
local outcome
local removed = redis.call('ZREM', leased, unpack(argv, 4))
if removed == n then
  outcome = string.rep('0', n)
elseif removed == 0 then
  outcome, ids = string.rep('4', n), {}
else
  -- Some tickets are stale. A held one is the next after the message's past; a stale one is not: each
  -- end of a lease has raised the past, or the body is gone or (another stamp) of a later push.
  -- include past
  local mark, held, seen = {}, {}, {}
  for i = 1, n do
    local attempt, id, stamp = ticket_read(ARGV[i + 3])
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
      held[#held + 1] = id
    end
  end
  outcome, ids = table.concat(mark), held
end

if #ids > 0 then
  local gone = redis.pcall('HDEL', msg, unpack(ids))
  if type(gone) == 'table' then
    for i = 4, #ARGV do
      redis.call('ZADD', leased, 0, ARGV[i])
    end
    return gone
  end
  if #came_back > 0 then
    redis.call('HDEL', past, unpack(ids))
  end
  redis.pcall('HINCRBY', info, 'acked', #ids)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], outcome)
