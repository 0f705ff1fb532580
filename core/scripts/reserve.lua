-- reserve: takes ready messages under a lease; moves what is due, or whose lease has ended, to ready. Before
-- that, it may settle what the consumer holds: acknowledge messages, and give one back as failed.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] leased    ZSET  ticket -> end of lease, ms
-- KEYS[4] wake      ZSET  the wake marker
-- KEYS[5] info      HASH  next, claims, lists, counters
-- KEYS[6] reply     STRING  what the session's last call answered
-- KEYS[7] high      LIST  those of high priority
-- KEYS[8] low       LIST  those of low priority
-- KEYS[9] delayed   ZSET  ticket -> due, ms
-- KEYS[10] dead      ZSET  ticket -> when it died, ms
-- KEYS[11] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[12] bad       LIST  entries that were no tickets
-- KEYS[13] rates     LIST  the history
-- FEW     6: these are enough where all is as usual; else it takes nothing and says: call again at once
-- OTHER   a dead-letter queue's keys
-- ARGV    number, keep, minute, count, lease in ms (0: the message's own), default lease in ms, '1' if the consumer waits when there is nothing, '1' if it has a duty: it took the wake
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
--         or '!ERROR': the settlement is done, and then the server answered this error, so that nothing
--         was taken.
--         outcomes: a digit for each acknowledged ticket, and one for the retry, as of ack and retry.
--         pasts: { index, past, ... } of the messages that came back.
local call, argv = redis.call, ARGV
local msg, ready, leased, wake, info = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if argv[3] == '1' then
  -- include int
  -- include totals
  -- include tally
  tally(info, ready, KEYS[13], now)
end

-- Here and below, what is seldom needed is defined where it is needed: it would cost at every call.
local noted = call('HMGET', info, 'next', 'lists', 'reserved', 'acked')
local outcomes, finished = nil, 0 -- of the settlement, where there is one
if argv[9] then
  -- include ack
  local stop = 10 + argv[10]
  local give_back, keys, found, other
  if argv[stop + 1] then
    -- include ticket
    -- include name
    -- include envelope
    -- include past
    -- include count
    -- include line
    -- include wake
    -- include expect
    -- include holder
    -- include other
    -- include finish
    -- include backoff
    -- include retry
    -- include named
    give_back, keys, other = retry, keys_by_name(), other_keys(14)
    found = retry_look(keys, argv[stop + 1], now, other)
    if found.needs then
      return '>' .. found.needs
    end
  end
  outcomes = ''
  if stop > 10 then
    local usual, first = argv[9] == '1', tonumber(noted[1])
    outcomes, finished = ack(msg, leased, KEYS[11], 11, stop, usual, first, now)
  end
  if give_back then
    outcomes = outcomes .. give_back(
      keys, found, argv[stop + 1], tonumber(argv[stop + 2]), tonumber(argv[stop + 3]), argv[stop + 4], now, other
    )
    noted = call('HMGET', info, 'next', 'lists', 'reserved', 'acked')
  end
end

local first = noted[1] and tonumber(noted[1]) or nil
-- A small sorted set is a packed list, which each change reads from its start. A member of this size makes
-- it a skip list, and that it stays until it is empty.
local long = '-----------------------------------------------------------------'
local byte = string.byte

-- The usual call, as cheap as can be: nothing is due, one line has messages, and they are as the core makes
-- them. Whatever else it meets it leaves to what follows.
local stop = now + (argv[5] == '0' and argv[6] or argv[5])
if first and first > now and first <= stop and not noted[2] and argv[4] ~= '0' and argv[8] ~= '1' then
  local tickets = redis.pcall('LPOP', ready, argv[4])
  local n = tickets and not tickets.err and #tickets or 0
  local envelopes = n > 0 and redis.pcall('HMGET', msg, unpack(tickets))
  local taken, reply, usual = {}, { now, -1, 0, 0, '', {}, outcomes or '' }, envelopes and not envelopes.err
  local ends = string.format('%d', stop)
  local k, m = n > 9 and 2 or 0, 0
  if k > 0 then
    taken[1], taken[2] = '0', long
  end
  for i = 1, usual and n or 0 do
    local ticket, envelope = tickets[i], envelopes[i]
    local version, flags
    if envelope then
      version, flags = byte(envelope, 1, 2)
    end
    if flags ~= 0 or version ~= 0xD1 or #envelope < 4 or #ticket ~= 22 then
      usual = false
      break
    end
    taken[k + m + 1], taken[k + m + 2] = ends, ticket
    reply[m + 8], reply[m + 9] = ticket, envelope
    m = m + 2
  end
  usual = usual and not string.find(table.concat(tickets), '%W')
  local reserved, acked = tonumber(noted[3] or 0), tonumber(noted[4] or 0)
  usual = usual and reserved and acked and reserved < 2 ^ 53 and acked < 2 ^ 53
    and type(redis.pcall('ZADD', leased, unpack(taken))) ~= 'table'
  if usual then
    -- include done
    if k > 0 then
      call('ZREM', leased, long)
    end
    reserved, acked = string.format('%d', reserved + n), string.format('%d', acked + finished)
    call('HSET', info, 'reserved', reserved, 'acked', acked)
    local note = string.format('%d', now) .. (outcomes and ' ' .. outcomes or '') .. '\n' .. table.concat(tickets, '\n')
    done(KEYS[6], note)
    return reply
  end
  for i = n, 1, -1 do
    call('LPUSH', ready, tickets[i])
  end
end
-- include named

local count_asked, lease = tonumber(argv[4]), tonumber(argv[5])
local wait, duty = argv[7] == '1', argv[8] == '1'
local lines = noted[2] and KEYS[7] and { KEYS[7], ready, KEYS[8] } or { ready }
-- An error that the server answers: what was not taken yet then stays where it is.
local problem
for i = 2, #lines do
  -- Once messages are given out, a foreign key is no error any more: it is found before.
  local length = redis.pcall('LLEN', lines[i])
  problem = problem or (type(length) == 'table' and length)
end

-- Takes tickets from the first line behind `line` that has any. Returns them, or the server's error, and where.
local function pop(lines, line, asked)
  local found
  while not found and line < #lines do
    line = line + 1
    found = redis.pcall('LPOP', lines[line], asked)
  end
  return found, line
end

local damaged, looked, paused = 0, false, false
local tickets, line, popped = nil, 0, 0 -- popped: tickets taken from `ready`
local look = first and first <= now
while not problem and KEYS[7] do
  if look then
    -- include ticket
    -- include past
    -- include bad
    -- include line
    -- include promote
    local fine, found = pcall(function()
      looked = true
      -- A pause has noted the time 0, so that every reserve comes by here.
      paused = redis.call('HEXISTS', info, 'paused') == 1
      if paused then
        return 0
      end
      local keys, moved, broken = keys_by_name()
      first, moved, broken = promote(keys, now, 100)
      damaged = damaged + broken
      -- They were just moved there; or the note of them is gone.
      local others = #lines == 1 and redis.call('LLEN', keys.high) + redis.call('LLEN', keys.low) or 0
      if others > 0 then
        redis.call('HSET', info, 'lists', '1')
        lines = { KEYS[7], ready, KEYS[8] }
      end
      return moved + others
    end)
    if not fine then
      problem = type(found) == 'table' and found or { err = found }
    end
    -- It looks first where something is due, else when the lines are empty.
    if problem or paused or (line > 0 and found == 0) then
      break
    end
  end
  if count_asked == 0 then
    break
  end
  tickets, line = pop(lines, 0, argv[4])
  problem = tickets and tickets.err and tickets
  if tickets or looked then
    break
  end
  look = true
end
if problem then
  tickets = nil
elseif tickets and lines[line] == ready then
  popped = #tickets
end

local pasts = {}
local reply, n, rounds, asked = { now, -1, 0, 0, '', pasts, outcomes or '' }, 0, 0, count_asked
local usual_lease = lease > 0 and lease or tonumber(argv[6])
local usual_stop = string.format('%d', stop)
local shortest -- lease given
local held -- tickets given, where it is all of one round
local dry = not tickets and count_asked > 0 -- nothing is left in any line
local other
while tickets do
  -- The usual ticket is a made id itself, and its envelope has nothing of its own.
  local envelopes = redis.pcall('HMGET', msg, unpack(tickets))
  problem = envelopes.err and envelopes
  local round
  for i = 1, problem and 0 or #tickets do
    local envelope = envelopes[i]
    local version, flags
    if envelope then
      version, flags = byte(envelope, 1, 2)
    end
    if flags ~= 0 or version ~= 0xD1 or #envelope < 4 or #tickets[i] ~= 22
      or string.find(tickets[i], '%W') then
      round = round
        or { odd = {}, given = {}, leases = {}, texts = {}, spent = {}, over = {}, garbage = {}, back = {} }
      round.odd[#round.odd + 1] = i
    end
  end
  local keys, settle, drop
  if round then
    -- include ticket
    -- include name
    -- include envelope
    -- include past
    -- include count
    -- include line
    -- include wake
    -- include other
    -- include finish
    -- include bad
    -- include odd
    -- include sweep
    keys, other, settle, drop = keys_by_name(), other_keys(14), settle_odd, sweep
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
  local at, k = 2 * n + 7, 0
  if #tickets > 9 then
    taken[1], taken[2], k = '0', long, 2
  end
  local told = #pasts
  for i = 1, problem and 0 or #tickets do
    if not round or round.given[i] then
      local ticket, stop = tickets[i], usual_stop
      if round and round.leases[i] and lease == 0 then
        stop = string.format('%d', now + round.leases[i])
        now_shortest = math.min(now_shortest or round.leases[i], round.leases[i])
      end
      taken[k + m + 1], taken[k + m + 2] = stop, ticket
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
    if k > 0 and not problem then
      redis.call('ZREM', leased, long)
    end
  end
  if problem then
    held = nil
    -- Nothing of this round was written but the LPOP: take it back.
    for i = #tickets, 1, -1 do
      redis.call('LPUSH', lines[line], tickets[i])
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
    if m == 0 then
      -- Where one has no message, thousands may follow.
      local dropped = drop(lines[line], msg)
      popped = popped + (lines[line] == ready and dropped or 0)
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
  tickets, line = pop(lines, short and line or line - 1, asked)
  if tickets and lines[line] == ready then
    popped = popped + #tickets
  end
  dry = not tickets
end

if problem and n == 0 then
  if not outcomes then
    return problem
  end
  -- It must not hide the outcomes.
  reply[5] = '!' .. problem.err
end
local stands = n == 0 and (problem or paused or not KEYS[7]) -- nothing is handed out
if not KEYS[7] then
  reply[2] = 0
end
reply[4] = damaged
if damaged > 0 or popped ~= n then
  -- include count
  if damaged > 0 then
    count(info, 'damaged', damaged)
  end
  if popped ~= n then
    count(info, 'skew', popped - n)
  end
end

local left = 0
if not dry and not stands and (duty or looked or n == 0) then
  for i = 1, #lines do
    left = left + redis.call('LLEN', lines[i])
  end
end
if dry and not stands and #lines > 1 then
  redis.call('HDEL', info, 'lists')
end
local lowered = false
if n > 0 and (not first or now + shortest < first) then
  first, lowered = now + shortest, true
end
-- What the note of the queue gets in one command. With nothing to come a note of the future stays: it is
-- early, which is safe, and spares the next reserve from noting again.
local fields, f = {}, 0
local reserved, acked, most = tonumber(noted[3] or 0), tonumber(noted[4] or 0), 2 ^ 53
if n > 0 and reserved and reserved < most then
  fields[1], fields[2], f = 'reserved', string.format('%d', reserved + n), 2
end
if finished > 0 and acked and acked < most then
  fields[f + 1], fields[f + 2], f = 'acked', string.format('%d', acked + finished), f + 2
end
if first and (lowered or looked) and not stands then
  fields[f + 1], fields[f + 2], f = 'next', string.format('%d', first), f + 2
elseif looked and not stands and noted[1] and (tonumber(noted[1]) or 0) <= now then
  redis.call('HDEL', info, 'next')
end
if f > 0 then
  redis.call('HSET', info, unpack(fields))
end

if n == 0 and not stands and (left > 0 or (first and first <= now)) then
  reply[2] = 0
end
if not stands and (duty or lowered or looked) then
  -- include wake
  -- include expect
  local claims = redis.call('HGET', info, 'claims')
  wait = wait and n == 0 and reply[2] ~= 0
  if duty or wait then
    -- include claim
    -- A note that stayed is claimed too: then the leases of the next messages need nobody woken. Nothing
    -- is to come by then, so that one claim is enough.
    local note = tonumber(noted[1] or '') or 0
    local session = string.match(KEYS[6], '%w+$')
    local pause, text, changed = claim(claims, session, first or (note > now and note), now, wait, not first)
    if changed then
      redis.call('HSET', info, 'claims', text)
    end
    claims = text
    if pause then
      reply[2], reply[3] = pause * 1000 - time[2] % 1000, 1
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
  -- include done
  if not held then
    held = {}
    for i = 1, n do
      held[i] = reply[2 * i + 6]
    end
  end
  local head = string.format('%d', now) .. (outcomes and ' ' .. outcomes or '')
  done(KEYS[6], head .. '\n' .. table.concat(held, '\n'))
end
return reply
