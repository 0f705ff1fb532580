-- reserve_rare: a reserve that gives a failed message back, or meets more than first deliveries of plain messages:
-- priorities, a pause, ended leases, messages that came back, with policies or headers, over 1 MiB, what is over, exhausted
-- or damaged.
-- keys msg ready leased delayed wake meta reply high low dead outbox attempts quarantine rates failures
-- args as of reserve; behind the acknowledged tickets may come ticket, delay, chance, error and who, as of retry, of one that
--      is given back as failed. It may be asked for none: then it settles, and wakes others where it must.
--      With '.0' behind how many: it says how late messages are, too.
-- Returns what reserve does, or then reserve_timed; the outcome of what failed is the last.
local call, argv = redis.call, ARGV
local time = redis.call('TIME')
local now, us = time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
if argv[3] == '1' and redis.pcall('EXISTS', meta) == 1 then
  -- include history
end
-- include permit
local most, lease, stop = math.abs(argv[4]), tonumber(argv[5]), 7 + argv[7]
local ordered, timed = string.byte(argv[4]) == 45, string.find(argv[4], '.', 1, true)
local outcomes, acknowledged, back, first, out_now = '', {}, argv[stop + 1], math.huge, false
if stop > 7 then
  outcomes, acknowledged = held(8, stop)
  local problem = not outcomes and acknowledged
  -- include failed
  if #acknowledged > 0 then
    acknowledge(acknowledged)
  end
end
-- Their tickets go from `leased` at the end of this call.
local settled = {}
for _, ticket in ipairs(acknowledged) do
  settled[ticket] = true
end
if settled[back] then
  outcomes, back = outcomes .. DUEQ_LEASE_LOST, nil
end
if back then
  -- include known
  look_around()
  settled[back] = true
  local digit, out, at = retry(back, tonumber(argv[stop + 2]), tonumber(argv[stop + 3]), argv[stop + 4], argv[stop + 5], now)
  outcomes, first, out_now = outcomes .. digit, at or first, out
end

local state = call('HMGET', meta, 'next_event', 'timekeepers', 'has_priorities', 'outbox_event', 'paused', 'wire',
  'large', 'suspect', 'watched')
local wire = state[6]
-- include refuse
if not state[1] and ordered and string.match(tostring(redis.pcall('GET', msg)), '^partitions ') then
  -- One of their consumers, which has none of them and waits for one.
  return { now, -1, 0, 0, '', '', '' }
elseif not state[1] then
  -- include plain
end
local function noted_time(text)
  local at = tonumber(text or '')
  return at and at >= 0 and at <= 4102444800000 and at % 1 == 0 and at or nil
end
local noted, out = noted_time(state[1]), noted_time(state[4])
local looked, paused = not noted or noted <= now, state[5]
-- While one is leased the others wait; when none is any more, those whose lease ended go first.
local in_work = ordered and redis.call('EXISTS', leased) == 1
looked = looked or in_work
local span, from = watch_ms(math.abs(lease)), 0
if looked and (redis.call('ZCOUNT', leased, '-inf', string.format('%d', now + span)) > 0) then
  local since = watch(state[9], span, now)
  from = string.byte(argv[6]) % 4 < 2 and since + span or 0
end
local waits = in_work and not paused
  and (from > now or redis.call('ZCOUNT', leased, string.format('(%d', now), '+inf') > 0)
paused = paused or waits
local due, garbage, ended = 0, {}, {}
if looked then
  -- What stands there: the note of it may be lost.
  local head = tonumber(redis.pcall('ZRANGE', outbox, 0, 0, 'WITHSCORES')[2] or '')
  if head and not (out and out <= head) then
    out = math.ceil(math.max(0, math.min(head, 4102444800000)))
    redis.pcall('HSET', meta, 'outbox_event', string.format('%d', out))
  end
end
if looked and not paused then
  local next_due, next_look
  due, next_due = promote(now)
  ended, next_look = ended_leases(now, span, from, settled, ordered)
  -- What a relay is told of now is looked after again a second later, in case that it cannot.
  first = math.min(first, next_due, next_look, out and out <= now and now + 1000 or out or math.huge)
else
  first = math.min(first, noted or math.huge)
end

local lines = (state[3] == '1' or looked) and { high, ready, low } or { ready }
local function pause_of(e, id, had, crashed_now)
  -- In partitions the order goes first.
  return ordered and 0 or crash_pause(e, id, had, now, crashed_now, state[8], settled)
end
local c = choose(lines, paused and 0 or most, now, garbage, ended, pause_of, state[7] == '1', string.byte(argv[4]) == 43)
local n, deliver, answer, lined = #c.deliver, {}, { now, -1, 0, 0, '', {}, outcomes }, {}
first = math.min(first, c.first)
for i, ticket in ipairs(c.deliver) do
  local ms = lease < 0 and c.leases[i] or math.abs(lease)
  deliver[2 * i - 1], deliver[2 * i] = string.format('%d', now + ms), ticket
  answer[2 * i + 6], answer[2 * i + 7] = ticket, c.envelopes[i]
  first = math.min(first, now + ms - watch_ms(ms))
  -- One whose lease had ended was in no line: how late it is, is not known, as of one of low priority.
  lined[i] = c.ended[ticket] and '0.l:' or ticket
  if c.records[i] then
    table.insert(answer[6], i)
    table.insert(answer[6], c.records[i])
  end
end

if timed and n > 0 then
  answer[#answer + 1] = lateness(lined, now)
end

local left, prioritized = c.waiting, 0
for l, line in ipairs(lines) do
  local length = paused and 0 or call('LLEN', line) - c.met[l]
  left, prioritized = left + length, prioritized + (line == ready and 0 or length)
end
-- What is new comes first, then what is gone goes: see lib/gone.lua.
if #garbage > 0 then
  call('RPUSH', quarantine, unpack(garbage))
  call('LTRIM', quarantine, -100, -1)
end
bulk('ZADD', leased, deliver)
bulk('HSET', attempts, c.fresh)
if #c.later > 0 then
  -- Of what was due, that which waits again moved from the front of `delayed`, where the rest is removed.
  due = due - #c.later / 2 + call('ZADD', delayed, unpack(c.later))
end
keep_failures()
remove_gone()
if due > 0 then
  call('ZREMRANGEBYRANK', delayed, 0, due - 1)
end
local passed = 0
for l, line in ipairs(lines) do
  if c.met[l] > 0 then
    call('LTRIM', line, c.met[l], -1)
    passed = line == ready and c.met[l] or passed
  end
end
answer[4] = #garbage + c.damaged
for name, number in pairs({
  reserved = n, acked = #acknowledged, expired = c.expired, quarantined = answer[4], ready_offset = passed - n,
}) do
  count(name, number)
end
local fields = {}
-- Where messages are large it stays, as it is what has the usual reserve leave them to this one.
local rare = prioritized > 0 or state[7] == '1'
if #lines > 1 and rare ~= (state[3] == '1') then
  fields = { 'has_priorities', rare and '1' or '' }
end
if c.suspect then
  fields[#fields + 1], fields[#fields + 2] = 'suspect', string.format('%d ', now) .. c.suspect
end
out_now = out_now or c.out
first = out_now and math.min(first, now + 1000) or first
answer[5] = (out_now or looked and out and out <= now) and '1' or ''
if waits then
  answer[2] = math.min(500, math.ceil(span / 4)) * 1000
elseif not paused then
  answer[2], answer[3] = close(n, left, first < math.huge and first or nil, state[1], fields, looked, state[2], now, us)
end
if n > 0 or argv[8] then
  done(time[1] .. '.' .. time[2] .. ' ' .. outcomes .. '\n' .. table.concat(c.deliver, '\n'))
end
return answer
