-- reserve: takes ready messages under a lease; moves what is due, or whose lease has ended, to ready. Before
-- that, it may settle what the consumer holds: acknowledge messages, and give one back as failed.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] leased     ZSET  ticket -> end of lease, ms
-- KEYS[7] dead       ZSET  ticket -> when it died, ms
-- KEYS[8] wake       ZSET  the wake marker
-- KEYS[9] info       HASH  next, claims, lists, counters
-- KEYS[10] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[11] calls     HASH  session -> its last call and answer
-- KEYS[12] bad       LIST  entries that were no tickets
-- KEYS[13] incoming  ZSET  messages of other queues that move here -> due, ms
-- KEYS[14] rates     LIST  the history
-- OTHER   a dead-letter queue's keys
-- ARGV    session, call number, fresh, count, lease in ms (0: the message's own), default lease in ms,
--         '1' if the consumer waits when there is nothing, '1' if it has a duty: it took the wake
--         marker, or holds a claim, and so must see to it that the others are woken in its place.
--         A count of 0 takes nothing: it hands a duty on.
--         Then, with a settlement: '1' if all acknowledged tickets are ids themselves, how many there are,
--         the tickets; and, with a retry: ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error.
-- Returns { now ms, wait us, '1' if that wait is a claim, damaged entries set aside, needs, pasts, outcomes,
--           then for each message: ticket, envelope }; or '>NAME': the end of what is retried takes the keys
--           of the queue NAME, and nothing was changed. The lease of each is that of ARGV, else the
--           envelope's own, else the default, from now.
--         wait: 0 call again at once, -1 nothing to come or others look after it.
--         needs: '', or '>NAME': messages at their end must go to the queue NAME: call with its keys;
--         or '<NAME': messages of the queue NAME are due here: run transfer first; or '!ERROR': the
--         settlement is done, and then the server answered this error, so that nothing was taken.
--         outcomes: a digit for each acknowledged ticket, and one for the retry, as of ack and retry.
--         pasts: { index, past, ... } of the messages that came back.
local msg, ready, leased, wake, info = KEYS[1], KEYS[2], KEYS[6], KEYS[8], KEYS[9]
-- include now
-- include done
-- include count

local session = ARGV[1]
local count_asked, lease = tonumber(ARGV[4]), tonumber(ARGV[5])
local wait, duty = ARGV[7] == '1', ARGV[8] == '1'
local now, us = now_ms()
if ARGV[3] >= '2' then
  -- include int
  -- include totals
  -- include tally
  tally(info, ready, KEYS[14], now)
end
-- Here and below, what is seldom needed is defined where it is needed: it would cost at every call.
local function keys_by_name()
  return {
    msg = msg, ready = ready, high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = leased, dead = KEYS[7],
    wake = wake, info = info, past = KEYS[10], bad = KEYS[12], incoming = KEYS[13],
  }
end
local noted = redis.call('HMGET', info, 'next', 'lists')
local outcomes -- of the settlement; nil: there is none
if ARGV[9] then
  -- include ack
  local keys, stop = keys_by_name(), 10 + ARGV[10]
  local ended, found, other
  if ARGV[stop + 1] then
    -- include ticket
    -- include name
    -- include envelope
    -- include past
    -- include line
    -- include wake
    -- include expect
    -- include holder
    -- include other
    -- include finish
    -- include backoff
    -- include retry
    ended, other = retry, other_keys(15)
    found = retry_look(keys, ARGV[stop + 1], now, other)
    if found.needs then
      return '>' .. found.needs
    end
  end
  outcomes = stop > 10 and ack(keys, 11, stop, ARGV[9] == '1', tonumber(noted[1]), now) or ''
  if ended then
    outcomes = outcomes .. ended(
      keys, found, ARGV[stop + 1], tonumber(ARGV[stop + 2]), tonumber(ARGV[stop + 3]), ARGV[stop + 4], now, other
    )
    noted = redis.call('HMGET', info, 'next', 'lists')
  end
end

-- An error behind a settlement must not hide its outcomes: it is kept, and answered beside them.
local failed
local function try(step, argument)
  if not outcomes then
    return step(argument)
  end
  local fine, found = pcall(step, argument)
  if fine then
    return found
  end
  failed = type(found) == 'table' and found.err or tostring(found)
end

local function note(tickets)
  local head = string.format('%d', now) .. (outcomes and ' ' .. outcomes or '')
  done(KEYS[11], session, ARGV[2], ARGV[3], head .. '\n' .. table.concat(tickets, '\n'))
end

local first = noted[1] and tonumber(noted[1]) or nil
local lines = noted[2] and { KEYS[3], ready, KEYS[4] } or { ready }
if noted[2] then
  -- Once messages are given out, a foreign key is no error any more: it is found before.
  try(function()
    redis.call('LLEN', ready)
    redis.call('LLEN', lines[3])
  end)
end
local damaged, looked, paused, needs = 0, false, false, ''
local function look()
  -- include ticket
  -- include past
  -- include bad
  -- include line
  -- include name
  -- include promote
  looked = true
  paused = redis.call('HEXISTS', info, 'paused') == 1
  if paused then
    return 0
  end
  local keys, moved, broken, source, arrival, strays = keys_by_name()
  first, moved, broken = promote(keys, now, 100)
  source, arrival, strays = arriving(keys, now)
  needs = source and '<' .. source or ''
  first = earlier(first, arrival)
  damaged = damaged + broken + strays
  -- They were just moved there; or the note of them is gone.
  local others = #lines == 1 and redis.call('LLEN', keys.high) + redis.call('LLEN', keys.low) or 0
  if others > 0 then
    redis.call('HSET', info, 'lists', '1')
    lines = { KEYS[3], ready, KEYS[4] }
  end
  return moved + others
end

if first and first <= now and not failed then
  try(look)
end
-- A pause has noted the time 0, so that every reserve comes by here.
if paused then
  if outcomes then
    note({})
  end
  return { now, -1, 0, 0, '', {}, outcomes or '' }
end

local line, popped = 0, 0 -- tickets taken from `ready`
local function pop(asked)
  local found
  while not found and line < #lines do
    line = line + 1
    found = redis.call('LPOP', lines[line], asked)
  end
  if found and lines[line] == ready then
    popped = popped + #found
  end
  return found
end
local tickets = count_asked > 0 and not failed and try(pop, ARGV[4])
if not tickets and count_asked > 0 and not looked and not failed and (try(look) or 0) > 0 then
  line = 0
  tickets = try(pop, ARGV[4])
end

local byte = string.byte
local pasts = {}
local reply, n, rounds, asked = { now, -1, 0, 0, needs, pasts, outcomes or '' }, 0, 0, count_asked
local usual_lease = lease > 0 and lease or tonumber(ARGV[6])
local usual_stop = string.format('%d', now + usual_lease)
local shortest -- lease given
local held -- tickets given, where it is all of one round
local dry = not tickets and count_asked > 0 -- nothing is left in any line
local other
while tickets do
  -- The usual ticket is a made id itself, and its envelope has nothing of its own.
  local envelopes = redis.pcall('HMGET', msg, unpack(tickets))
  local problem = envelopes.err and envelopes
  local round
  for i = 1, problem and 0 or #tickets do
    local envelope = envelopes[i]
    local version, flags
    if envelope then
      version, flags = byte(envelope, 1, 2)
    end
    if flags ~= 0 or version ~= 0xD1 or #envelope < 4 or #tickets[i] ~= 22 then
      round = round
        or { odd = {}, given = {}, leases = {}, texts = {}, spent = {}, over = {}, garbage = {}, back = {} }
      round.odd[#round.odd + 1] = i
    end
  end
  local keys, settle
  if round then
    -- include ticket
    -- include name
    -- include envelope
    -- include past
    -- include line
    -- include wake
    -- include other
    -- include finish
    -- include bad
    -- include odd
    keys, other, settle = keys_by_name(), other_keys(15), settle_odd
    round.envelopes = envelopes
    for i = 1, #tickets do
      round.given[i] = true
    end
    for _, i in ipairs(round.odd) do
      round.given[i] = nil
    end
    problem = problem or sort_odd(keys, round, tickets, now, other)
    if not problem and #round.spent + #round.garbage + #round.over > 0 then
      for _, check in ipairs({
        redis.pcall('ZCARD', keys.dead), redis.pcall('HLEN', keys.past), redis.pcall('LLEN', keys.bad),
        other and redis.pcall('HLEN', other.msg), other and redis.pcall('HLEN', other.past),
        other and redis.pcall('LLEN', other.ready), other and redis.pcall('LLEN', other.high),
        other and redis.pcall('LLEN', other.low), other and redis.pcall('HLEN', other.info),
      }) do
        problem = problem or (type(check) == 'table' and check)
      end
    end
  end

  local taken, m, now_shortest = {}, 0, shortest
  local at = 2 * n + 7
  local told = #pasts
  for i = 1, problem and 0 or #tickets do
    if not round or round.given[i] then
      local ticket, stop = tickets[i], usual_stop
      if round and round.leases[i] and lease == 0 then
        stop = string.format('%d', now + round.leases[i])
        now_shortest = math.min(now_shortest or round.leases[i], round.leases[i])
      end
      taken[m + 1], taken[m + 2] = stop, ticket
      reply[at + m + 1], reply[at + m + 2] = ticket, envelopes[i]
      m = m + 2
      if round and round.texts[i] then
        pasts[#pasts + 1], pasts[#pasts + 2] = n + m / 2, round.texts[i]
      end
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
      redis.call('LPUSH', lines[line], tickets[i])
    end
    if n == 0 then
      if not outcomes then
        return problem
      end
      failed = problem.err
    end
    for i = 7 + 2 * n + 1, 7 + 2 * (n + m) do
      reply[i] = nil
    end
    for i = told + 1, #pasts do
      pasts[i] = nil
    end
    popped = popped - (lines[line] == ready and #tickets or 0)
    break
  end
  n, shortest = n + m, now_shortest
  held = n == #tickets and rounds == 0 and tickets or nil
  if round then
    damaged = damaged + settle(keys, round, lines[line], now, other)
    if round.needs then
      reply[5] = '>' .. round.needs
      popped = popped - (lines[line] == ready and #round.back or 0)
      break
    end
  end

  rounds = rounds + 1
  -- A pop that brought less than it was asked for has emptied the line.
  local short = #tickets < asked
  dry = short and line == #lines
  if n == count_asked or rounds == 5 or dry then
    break
  end
  asked = count_asked - n
  if not short then
    line = line - 1
  end
  tickets = pop(asked)
  dry = not tickets
end

if failed then
  note({})
  return { now, -1, 0, 0, '!' .. failed, {}, outcomes }
end
reply[4] = damaged
if damaged > 0 then
  count(info, 'damaged', damaged)
end
if n > 0 then
  count(info, 'reserved', n)
end
if popped ~= n then
  count(info, 'skew', popped - n)
end

local left = 0
if not dry and (duty or looked or n == 0) then
  for i = 1, #lines do
    left = left + redis.call('LLEN', lines[i])
  end
end
if dry and #lines > 1 then
  redis.call('HDEL', info, 'lists')
end
local lowered = false
if n > 0 and (not first or now + shortest < first) then
  first, lowered = now + shortest, true
end
-- With nothing to come a note of the future stays: it is early, which is safe, and spares the next
-- reserve from noting again.
if first and (lowered or looked) then
  redis.call('HSET', info, 'next', string.format('%d', first))
elseif looked and noted[1] and (tonumber(noted[1]) or 0) <= now then
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
    -- A note that stayed is claimed too: then the leases of the next messages need nobody woken.
    local note = tonumber(noted[1] or '') or 0
    local pause, text, changed = claim(claims, session, first or (note > now and note), now, wait)
    if changed then
      redis.call('HSET', info, 'claims', text)
    end
    claims = text
    if pause then
      reply[2], reply[3] = pause * 1000 - us, 1
    end
  end
  if wait then
    -- Nothing is ready and the next time is looked after: nobody needs to be woken.
    redis.pcall('ZREM', wake, 'w', 'x')
  elseif left > 0 and (duty or looked) then
    wake_one(wake, left > 1)
  elseif first and not covered(claims, first, now) then
    wake_one(wake)
  end
end

if n > 0 or outcomes then
  if not held then
    held = {}
    for i = 1, n do
      held[i] = reply[2 * i + 6]
    end
  end
  note(held)
end
return reply
