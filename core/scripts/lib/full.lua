-- needs attempts by_turns delayed high leased low meta msg outbox quarantine ready
-- includes verify_leases acknowledge precheck_full retry_message watch promote_due ended_leases
-- includes crash_pause select_messages lateness bulk note_failure deferred_removals count
-- includes finish_reserve limits places keep_reply keep_history noop_write return_problem
-- includes refuse_newer refuse_wire refuse_layout note_end batch_counts
-- The body of reserve_full and reserve_groups_full. by_turns: the functions of the latter; nil: the
-- queue has no groups. A script has room for 200 local names, and so has a function. So functions
-- that one block needs are in that block, or in a function there.
local call, argv = redis.call, ARGV
local time = redis.call('TIME')
local now, us = time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
local most, lease, stop = tonumber(argv[4]), tonumber(argv[5]), 7 + argv[7]
local function read_state()
  return call('HMGET', meta, 'next_event', 'timekeepers', 'has_priorities', 'outbox_event',
    'paused', 'wire', 'large', 'suspect', 'watched', 'turns', 'returned', 'limited', 'held')
end
local state = read_state()
if by_turns and not state[10] or state[10] and not by_turns and (most > 0 or argv[8]) then
  return nil
elseif by_turns then
  by_turns.begin(state[10], state[12] == '2' and time[1] * 1000000 + time[2])
end
local limit, unreadable
if state[12] == '1' or state[12] == '2' then
  limit, unreadable = limits_read()
  -- What the call settles does not wait until the limits are mended.
  if unreadable and most > 0 and not argv[8] then
    return unreadable
  end
end
if argv[3] == '1' and redis.pcall('EXISTS', meta) == 1 then
  -- include keep_history
end
-- include noop_write
local kind, ended_at_once, lease_is_default, timed =
  string.match(argv[6], '^(.)..(.)(.)(.)')
-- Where messages have groups, a partition does not wait for those that are leased.
local ordered, holds = kind == 'o' and not by_turns, kind == 'h'
local outcomes, acknowledged, failed_ticket = '', {}, argv[stop + 1] ~= '' and argv[stop + 1] or nil
local first, relay_due = math.huge, false
if stop > 7 then
  -- include verify_leases
  -- include acknowledge
  outcomes, acknowledged = verify_leases(8, stop)
  local problem = not outcomes and acknowledged
  -- include return_problem
  if #acknowledged > 0 then
    note_acks(acknowledged, argv[stop + 5] or '', '')
    acknowledge(acknowledged)
    if by_turns then
      by_turns.leave(acknowledged, true)
    end
  end
end
-- Their tickets leave `leased` at the end of this call.
local settled, freed = {}, #acknowledged
for _, ticket in ipairs(acknowledged) do
  settled[ticket] = true
end
if settled[failed_ticket] then
  outcomes, failed_ticket = outcomes .. DUEQ_LEASE_LOST, nil
end
if failed_ticket then
  -- include refuse_newer
  precheck_full()
  settled[failed_ticket] = true
  -- include retry_message
  local digit, out, at = retry_message(failed_ticket, tonumber(argv[stop + 2]),
    tonumber(argv[stop + 3]), argv[stop + 4], argv[stop + 5], now)
  outcomes, first, relay_due = outcomes .. digit, at or first, out
  if digit ~= DUEQ_LEASE_LOST then
    freed = freed + 1
    if by_turns then
      by_turns.leave({ failed_ticket }, digit == DUEQ_EXHAUSTED)
    end
  end
  state = read_state()
end

do
  local wire = state[6]
  -- include refuse_wire
end
if not state[1] and ordered and string.match(tostring(redis.pcall('GET', msg)), '^partitions ') then
  -- A consumer of a queue with partitions waits here while it has no partition.
  return { now, -1, 0, 0, '', '', '' }
elseif not state[1] then
  -- include refuse_layout
end
local noted, outbox_at
do
  local function noted_time(text)
    local at = tonumber(text or '')
    return at and at >= 0 and at <= 4102444800000 and at % 1 == 0 and at or nil
  end
  noted, outbox_at = noted_time(state[1]), noted_time(state[4])
end
local events_due, paused = not noted or noted <= now, state[5]
-- While a message is leased, the others wait. After that, messages whose leases ended go first.
local any_leased = ordered and redis.call('EXISTS', leased) == 1
events_due = events_due or any_leased
local span, from = watch_ms(lease), 0
if events_due and (redis.call('ZCOUNT', leased, '-inf', string.format('%d', now + span)) > 0) then
  local since = note_watch(state[9], span, now)
  from = ended_at_once ~= 'e' and since + span or 0
end
local waits = any_leased and not paused
  and (from > now or redis.call('ZCOUNT', leased, string.format('(%d', now), '+inf') > 0)
paused = paused or waits
local due, fallen_due, next_due, garbage, ended = 0, 0, math.huge, {}, {}
if events_due then
  -- The first entry itself says when it is due: the note of its time may be lost.
  local head = tonumber(redis.pcall('ZRANGE', outbox, 0, 0, 'WITHSCORES')[2] or '')
  if head and not (outbox_at and outbox_at <= head) then
    outbox_at = math.ceil(math.max(0, math.min(head, 4102444800000)))
    redis.pcall('HSET', meta, 'outbox_event', string.format('%d', outbox_at))
  end
end
if events_due and not paused then
  -- include promote_due
  -- include ended_leases
  local next_recheck
  due, next_due = promote_due(now)
  fallen_due = due
  ended, next_recheck = ended_leases(now, span, from, settled, ordered)
  -- If the relay that is told now cannot do its work, another looks a second later.
  first = math.min(first, next_recheck,
    outbox_at and outbox_at <= now and now + 1000 or outbox_at or math.huge)
else
  first = math.min(first, noted or math.huge)
end

local lanes = (state[3] == '1' or events_due) and { high, ready, low } or { ready }
local function pause_of(e, id, had, crashed_now)
  -- In a partition with an order, the order is kept, and nothing is postponed.
  local pause = ordered and 0 or crash_pause(e, id, had, now, crashed_now, state[8], settled)
  local group = crashed_now and by_turns and string.match(e.suffix or '', '=(.*)$')
  return group and math.max(pause, by_turns.wait(group)) or pause
end
most = paused and 0 or most
local places = math.huge
if limit then
  most, ended, places = places_begin(limit, most, freed, ended, time[1] * 1000000 + time[2])
elseif unreadable then
  most, ended = 0, {}
end
if by_turns and most > 0 then
  by_turns.sort(state[11], garbage)
end
local c = select_messages(lanes, most, now, garbage, ended, pause_of, state[7] == '1', holds,
  by_turns, places)
local n, deliver, late_tickets = #c.deliver, {}, {}
c.passed = 0
local answer = { now, -1 - us, 0, 0, '', {}, outcomes }
first = math.min(first, c.first)
for i, ticket in ipairs(c.deliver) do
  local ms = lease_is_default == 'd' and c.leases[i] or lease
  deliver[2 * i - 1], deliver[2 * i] = string.format('%d', now + ms), ticket
  answer[2 * i + 6], answer[2 * i + 7] = ticket, c.envelopes[i]
  first = math.min(first, now + ms - watch_ms(ms))
  -- A message whose lease had ended was in no lane. So its lateness is not known, as that of one
  -- with low priority, nor that of one from a line that did not fall due in this call.
  local is_unknown = c.ended[ticket]
    or by_turns and timed == 'l' and not call('ZSCORE', delayed, ticket)
  late_tickets[i] = is_unknown and '0.l:' or ticket
  if c.records[i] then
    table.insert(answer[6], i)
    table.insert(answer[6], c.records[i])
  end
end

if timed == 'l' and n > 0 then
  -- include lateness
  answer[#answer + 1] = lateness(late_tickets, now)
end

local left = c.waiting
c.prioritized = 0
for l, lane in ipairs(lanes) do
  c.met[l] = by_turns and lane == ready and by_turns.sorted or c.met[l]
  local length = paused and 0 or call('LLEN', lane) - c.met[l]
  left = left + length
  c.prioritized = c.prioritized + (lane == ready and 0 or length)
end
if by_turns and most > 0 then
  left = left + by_turns.left()
  for _, entry in ipairs(by_turns.unreadable) do
    garbage[#garbage + 1] = entry
  end
elseif state[10] and not paused then
  -- If there is a message at all, another reserve must look into the lines of the groups.
  left = left + call('EXISTS', msg)
end
local held, rate_at = false, nil
if limit and not paused then
  left, held, rate_at = places_end(limit, n, left, c.places)
elseif unreadable then
  -- The caller's next call gets the error.
  left = 1
end
if held then
  -- A message that falls due must wait for a place. So its time is no event. A client that does not
  -- know yet that the queue has limits acknowledges by the script ack, which wakes nobody.
  first = limit.is_new and math.min(first, now + 200) or first
else
  first = math.min(first, rate_at or next_due)
end
-- Additions come before removals: see lib/deferred_removals.lua. The batches come first: if a key
-- that they need has another type, the script ends before it has delivered a message.
if noted_ends[1] then
  relay_due, first = (function()
    -- include batch_counts
    local out = write_ends(now, batch_count)
    local calls_out, callback_at = write_batches(now)
    return out or calls_out or relay_due or c.relay_due, math.min(first, callback_at or math.huge)
  end)()
end
if #garbage > 0 then
  call('RPUSH', quarantine, unpack(garbage))
  call('LTRIM', quarantine, -100, -1)
end
if by_turns then
  by_turns.write()
  first = held and first or math.min(first, by_turns.next_timer())
end
bulk('ZADD', leased, deliver)
bulk('HSET', attempts, c.crash_records)
if #c.postponed > 0 then
  -- A message that was due and waits again has moved away from the front of `delayed`, where the
  -- others are removed.
  due = due - #c.postponed / 2 + call('ZADD', delayed, unpack(c.postponed))
end
keep_failures()
note_starts(now, c)
run_removals()
if due > 0 then
  call('ZREMRANGEBYRANK', delayed, 0, due - 1)
end
for l, lane in ipairs(lanes) do
  if c.met[l] > 0 then
    call('LTRIM', lane, c.met[l], -1)
    c.passed = lane == ready and c.met[l] or c.passed
  end
end
if by_turns then
  by_turns.remove()
end
answer[4] = #garbage + c.corrupt
for name, number in pairs({
  reserved = n, acked = #acknowledged, expired = c.expired, quarantined = answer[4],
  ready_offset = c.passed - n,
}) do
  count(name, number)
end
local fields = {}
-- While messages are large or the queue has limits, and once the queue has groups, `has_priorities`
-- stays set: it makes the fast reserve pass calls on.
c.needs_full = c.prioritized > 0 or state[7] == '1' or state[10] or limit or unreadable
if #lanes > 1 and (not c.needs_full) == (state[3] == '1') then
  fields = { 'has_priorities', c.needs_full and '1' or '' }
end
if by_turns then
  by_turns.meta(fields)
  if by_turns.sorted > 0 and by_turns.returned > 0 then
    fields[#fields + 1], fields[#fields + 2] = 'returned', '0'
  end
end
if c.suspect then
  fields[#fields + 1], fields[#fields + 2] = 'suspect', string.format('%d ', now) .. c.suspect
end
relay_due = relay_due or c.relay_due
first = relay_due and math.min(first, now + 1000) or first
answer[5] = (relay_due or events_due and outbox_at and outbox_at <= now) and '1' or ''
answer[5] = answer[5] .. (limit and 'l' or '')
if waits then
  answer[2] = math.min(500, math.ceil(span / 4)) * 1000
elseif not paused then
  answer[2], answer[3] = (function()
    -- include finish_reserve
    return finish_reserve(n, left, first < math.huge and first or nil, state[1], fields,
      events_due or by_turns and by_turns.has_come_back, fallen_due, state[2], now, us)
  end)()
end
if held or rate_at then
  -- The next event is noted as 0, so that the next reserve looks at all events, and no push of a
  -- delayed message wakes a consumer.
  call('HSET', meta, 'held', held and '1' or '', 'next_event', '0')
elseif state[13] == '1' and not paused then
  call('HSET', meta, 'held', '')
end
if n > 0 or argv[8] then
  -- include keep_reply
  keep_reply(time[1] .. '.' .. time[2] .. ' ' .. outcomes .. '\n' .. table.concat(c.deliver, '\n'))
end
return answer
