-- reserve: takes ready messages under a lease; moves what is due, or whose lease has ended, to ready.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] leased   ZSET  ticket -> end of lease, ms
-- KEYS[5] dead     ZSET  ticket -> when it died, ms
-- KEYS[6] wake     ZSET  the wake marker
-- KEYS[7] info     HASH  next, claims, counters
-- KEYS[8] past     HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[9] calls    HASH  session -> its last call and answer
-- KEYS[10] bad     LIST  entries that were no tickets
-- ARGV    session, call number, fresh, count, lease in ms (0: the message's own), default lease in ms,
--         '1' if the consumer waits when there is nothing, '1' if it has a duty: it took the wake
--         marker, or holds a claim, and so must see to it that the others are woken in its place
-- Returns { now ms, wait ms, '1' if that wait is a claim, damaged entries set aside,
--           then for each message: ticket, envelope }. The lease of each is that of ARGV, else the
--           envelope's own, else the default, from now.
--         wait: 0 call again at once, -1 nothing to come or others look after it.
local msg, ready, delayed, leased, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local wake, info, past, calls, bad = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
-- include now
-- include done

local session = ARGV[1]
local count, lease = tonumber(ARGV[4]), tonumber(ARGV[5])
local wait, duty = ARGV[7] == '1', ARGV[8] == '1'
local now = now_ms()
local noted = redis.call('HGET', info, 'next')
local first = noted and tonumber(noted) or nil
local damaged, looked, paused = 0, false, false

-- Here and below, what is seldom needed is defined where it is needed: it would cost at every call.
local function look()
  -- include ticket
  -- include past
  -- include bad
  -- include promote
  looked = true
  paused = redis.call('HEXISTS', info, 'paused') == 1
  if paused then
    return 0
  end
  local moved, broken
  first, moved, broken = promote({
    msg = msg, ready = ready, delayed = delayed, leased = leased, bad = bad, past = past,
  }, now, 500)
  damaged = damaged + broken
  return moved
end

if first and first <= now then
  look()
end
-- A pause has noted the time 0, so that every reserve comes by here.
if paused then
  return { now, -1, 0, 0 }
end
local tickets = redis.call('LPOP', ready, ARGV[4])
if not tickets and not looked and look() > 0 then
  tickets = redis.call('LPOP', ready, ARGV[4])
end

local byte = string.byte
local reply, n, rounds, asked = { now, -1, 0, 0 }, 0, 0, count
local usual_lease = lease > 0 and lease or tonumber(ARGV[6])
local usual_stop = string.format('%d', now + usual_lease)
local shortest -- lease given
local held -- tickets given, where it is all of one round
while tickets do
  -- The usual ticket is a made id itself, and its envelope has nothing of its own.
  local envelopes = redis.pcall('HMGET', msg, unpack(tickets))
  local problem = envelopes.err and envelopes
  local given, leases, odd
  for i = 1, problem and 0 or #tickets do
    local envelope = envelopes[i]
    local version, flags
    if envelope then
      version, flags = byte(envelope, 1, 2)
    end
    if flags ~= 0 or version ~= 0xD1 or #envelope < 4 or #tickets[i] ~= 22 then
      odd = odd or {}
      odd[#odd + 1] = i
    end
  end
  local spent, garbage
  if odd then
    -- include ticket
    -- include envelope
    -- include past
    -- include odd
    given, leases = {}, {}
    for i = 1, #tickets do
      given[i] = true
    end
    for _, i in ipairs(odd) do
      given[i] = nil
    end
    spent, garbage, problem = settle(msg, past, odd, tickets, envelopes, given, leases)
    for _, check in ipairs({ redis.pcall('ZCARD', dead), redis.pcall('HLEN', past), redis.pcall('LLEN', bad) }) do
      if type(check) == 'table' and #spent + #garbage > 0 then
        problem = problem or check
      end
    end
  end

  local taken, m, now_shortest = {}, 0, shortest
  local at = 2 * n + 4
  for i = 1, problem and 0 or #tickets do
    if not given or given[i] then
      local ticket, stop = tickets[i], usual_stop
      if leases and leases[i] and lease == 0 then
        stop = string.format('%d', now + leases[i])
        now_shortest = math.min(now_shortest or leases[i], leases[i])
      end
      taken[m + 1], taken[m + 2] = stop, ticket
      reply[at + m + 1], reply[at + m + 2] = ticket, envelopes[i]
      m = m + 2
    end
  end
  m = m / 2
  if m > 0 then
    now_shortest = math.min(now_shortest or usual_lease, usual_lease)
  end
  if m > 0 then
    local added = redis.pcall('ZADD', leased, unpack(taken))
    problem = type(added) == 'table' and added
  end
  if problem then
    held = nil
    -- Nothing of this round was written but the LPOP: take it back.
    for i = #tickets, 1, -1 do
      redis.call('LPUSH', ready, tickets[i])
    end
    if n == 0 then
      return problem
    end
    for i = 4 + 2 * n + 1, 4 + 2 * (n + m) do
      reply[i] = nil
    end
    rounds = 5
    break
  end
  n, shortest = n + m, now_shortest
  held = n == #tickets and rounds == 0 and tickets or nil

  if odd and #spent > 0 then
    -- include past
    for _, entry in ipairs(spent) do
      local story = past_read(redis.call('HGET', past, entry[2]))
      story.before, story.stamp, story.text = entry[3], entry[4], entry[5] or story.text
      redis.call('ZADD', dead, string.format('%d', now), entry[1])
      redis.call('HSET', past, entry[2], past_write(story))
      damaged = damaged + (entry[5] and 1 or 0)
    end
  end
  if odd and #garbage > 0 then
    -- include bad
    set_aside(bad, garbage)
    damaged = damaged + #garbage
  end

  rounds = rounds + 1
  if n == count or rounds == 5 or #tickets < asked then
    break
  end
  asked = count - n
  tickets = redis.call('LPOP', ready, asked)
end

reply[4] = damaged
if damaged > 0 then
  redis.pcall('HINCRBY', info, 'damaged', damaged)
end

-- A pop that brought less than it was asked for has emptied the list.
local emptied = n < count and rounds < 5
local left = not emptied and (duty or looked or n == 0) and redis.call('LLEN', ready) or 0
local lowered = false
if n > 0 and (not first or now + shortest < first) then
  first, lowered = now + shortest, true
end
-- With nothing to come a note of the future stays: it is early, which is safe, and spares the next
-- reserve from noting again.
if first and (lowered or looked) then
  redis.call('HSET', info, 'next', string.format('%d', first))
elseif looked and noted and (tonumber(noted) or 0) <= now then
  redis.call('HDEL', info, 'next')
end

if n == 0 and left > 0 then
  reply[2] = 0
elseif n == 0 and first and first <= now then
  reply[2] = 0
end
if duty or lowered or looked then
  -- include wake
  -- include expect
  local claims = redis.call('HGET', info, 'claims')
  wait = wait and n == 0 and reply[2] ~= 0
  if duty or wait then
    -- include claim
    local pause, text, changed = claim(claims, session, first, now, wait)
    if changed then
      redis.call('HSET', info, 'claims', text)
    end
    claims = text
    if pause then
      reply[2], reply[3] = pause, 1
    end
  end
  if wait then
    -- Nothing is ready and the next time is looked after: nobody needs to be woken.
    redis.pcall('ZREM', wake, 'w')
  elseif left > 0 and (duty or looked) then
    wake_one(wake)
  elseif first and not covered(claims, first, now) then
    wake_one(wake)
  end
end

if n > 0 then
  if not held then
    held = {}
    for i = 1, n do
      held[i] = reply[2 * i + 3]
    end
  end
  done(calls, session, ARGV[2], ARGV[3], string.format('%d\n', now) .. table.concat(held, '\n'))
end
return reply
