-- reserve: takes ready messages under a lease; moves what is due, or whose lease has ended, to ready.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] leased   ZSET  ticket -> end of lease, ms
-- KEYS[5] dead     ZSET  ticket -> when it died, ms
-- KEYS[6] wake     ZSET  the wake marker
-- KEYS[7] info     HASH  next, claims, counters
-- KEYS[8] past     HASH  id -> attempts, crashes, last error
-- KEYS[9] calls    HASH  session -> its last call and answer
-- KEYS[10] bad     LIST  entries that were no tickets
-- ARGV    session, call number, fresh, count, lease in ms (0: the message's own), default lease in ms,
--         '1' if the consumer waits when there is nothing, '1' if it has a duty: it took the wake
--         marker, or holds a claim, and so must see to it that the others are woken in its place
-- Returns { now ms, wait ms, '1' if that wait is a claim, damaged entries set aside,
--           then for each message: ticket, end of lease in ms, envelope }.
--         wait: 0 call again at once, -1 nothing to come or others look after it.
local msg, ready, delayed, leased, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local wake, info, past, calls, bad = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
-- include now
-- include ticket
-- include envelope
-- include done

local session = ARGV[1]
local count, lease = tonumber(ARGV[4]), tonumber(ARGV[5])
local wait, duty = ARGV[7] == '1', ARGV[8] == '1'
local now = now_ms()
local noted = redis.call('HGET', info, 'next')
local first = noted and tonumber(noted) or nil
local damaged, looked = 0, false

-- Here and below, what is seldom needed is defined where it is needed: it would cost at every call.
local function look()
  -- include past
  -- include bad
  -- include promote
  looked = true
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
local tickets = redis.call('LPOP', ready, ARGV[4])
if not tickets and not looked and look() > 0 then
  tickets = redis.call('LPOP', ready, ARGV[4])
end

local match, byte = string.match, string.byte
local reply, held = { now, -1, 0, 0 }, {}
local size, n, rounds, asked = 4, 0, 0, count
local usual_lease = lease > 0 and lease or tonumber(ARGV[6])
local granted, stop, shortest -- the lease last given and its end as text; the shortest given
while tickets do
  local ids, attempts, stamps = {}, {}, {}
  for i = 1, #tickets do
    local id = match(tickets[i], '^0:(.*)$')
    if id then
      ids[i] = id
    else
      local attempt, stamp
      attempt, id, stamp = ticket_read(tickets[i])
      ids[i], attempts[i], stamps[i] = id or '', attempt or -1, stamp
    end
  end
  local envelopes = redis.pcall('HMGET', msg, unpack(ids))
  local problem = envelopes.err and envelopes

  local taken, spent, garbage, size_before, n_before, shortest_before = {}, {}, {}, size, n, shortest
  for i = 1, problem and 0 or #tickets do
    local envelope, id, attempt, stamp = envelopes[i], ids[i], attempts[i] or 0, stamps[i]
    local usual, max_attempts, own_stamp, own_lease
    if envelope then
      local version, flags = byte(envelope, 1, 2)
      usual = flags == 0 and attempt == 0 and not stamp and version == 0xD1 and #envelope > 3
      if not usual then
        max_attempts, own_stamp, own_lease = envelope_read(envelope)
      end
    end
    local ticket, given
    if usual then
      ticket, given = '1:' .. id, usual_lease
    elseif attempt < 0 then
      damaged = damaged + 1
      garbage[#garbage + 1] = tickets[i]
    elseif not envelope or (max_attempts and own_stamp ~= stamp) then
      max_attempts = nil
    elseif not max_attempts then
      damaged = damaged + 1
      spent[#spent + 1] = { ticket_write(attempt, id), id, attempt, 'damaged envelope' }
    elseif max_attempts > 0 and attempt >= max_attempts then
      spent[#spent + 1] = { tickets[i], id, attempt }
    else
      ticket = ticket_write(attempt + 1, id, stamp)
      given = lease == 0 and own_lease or usual_lease
    end
    if ticket then
      if given ~= granted then
        granted, stop = given, string.format('%d', now + given)
        shortest = math.min(given, shortest or given)
      end
      n = n + 1
      held[n] = ticket
      local at = 2 * (n - n_before)
      taken[at - 1], taken[at] = stop, ticket
      reply[size + 1], reply[size + 2], reply[size + 3] = ticket, stop, envelope
      size = size + 3
    end
  end

  if not problem and #spent + #garbage > 0 then
    for _, check in ipairs({ redis.pcall('ZCARD', dead), redis.pcall('HLEN', past), redis.pcall('LLEN', bad) }) do
      if type(check) == 'table' and check.err then
        problem = check
      end
    end
  end
  if not problem and #taken > 0 then
    local added = redis.pcall('ZADD', leased, unpack(taken))
    problem = type(added) == 'table' and added
  end
  if problem then
    -- Nothing of this round was written but the LPOP: take it back.
    for i = #tickets, 1, -1 do
      redis.call('LPUSH', ready, tickets[i])
    end
    if n_before == 0 then
      return problem
    end
    for i = size_before + 1, size do
      reply[i] = nil
    end
    n, rounds, shortest = n_before, 5, shortest_before
    break
  end
  if #spent > 0 then
    -- include past
    for _, entry in ipairs(spent) do
      local _, crashes, text = past_read(redis.call('HGET', past, entry[2]))
      redis.call('ZADD', dead, string.format('%d', now), entry[1])
      redis.call('HSET', past, entry[2], past_write(entry[3], crashes, entry[4] or text))
    end
  end
  if #garbage > 0 then
    -- include bad
    set_aside(bad, garbage)
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
  done(calls, session, ARGV[2], ARGV[3], table.concat(held, '\n', 1, n))
end
return reply
