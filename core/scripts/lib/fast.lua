-- needs delayed leased meta msg ready lateness keep_history
-- includes fast_begin refuse_wire fast_leases fast_due verify_leases_fast noop_write lease_fast
-- includes fast_settle count_fast finish_reserve fast_keep
-- The body of reserve and reserve_timed. It reads all that it needs before it writes, so that it
-- can still pass the call on. lateness: a function that says how late the messages are; nil: nobody
-- asks. keep_history: a function that does so in the first call of a minute; nil: this is none.
-- include fast_begin
local state = must_rewake and call('HMGET', meta, 'next_event', 'timekeepers', 'has_priorities',
    'outbox_event', 'wire', 'reserved', 'acked')
  or call('HMGET', meta, 'next_event', 'timekeepers', 'has_priorities', 'outbox_event', 'wire')
local wire = state[5]
if wire then
  -- include refuse_wire
end
local first = tonumber(state[1] or '')
local events_due = not first or first <= now
if not state[1] or state[3] == '1'
  or first and not (first > 0 and first <= 4102444800000 and first % 1 == 0)
  or ordered and call('EXISTS', leased) == 1 then
  return nil
end

local tickets = most == 1 and { call('LINDEX', ready, '0') or nil }
  or most > 0 and call('LRANGE', ready, '0', format('%d', most - 1)) or {}
local ready_count, due, direct, head, after = #tickets, nil, 0, nil, nil
-- include fast_leases
-- A caller that asks for no messages only settles. The next caller that asks for some moves due
-- ones.
events_due = events_due and most > 0
if events_due then
  -- include fast_due
  direct = math.min(#due, most - ready_count)
  for i = 1, direct do
    tickets[ready_count + i] = due[i]
  end
end
local n, surplus = #tickets, due and #due - direct or 0

-- A plain ticket is an id that the core made, or "0.INCARNATION:ID". The client checks the id
-- itself. Here and below a table begins with room for one message: Lua makes room again for each
-- place that is added to a table.
local ids = { nil }
for i = 1, n + surplus do
  local ticket = tickets[i] or due[i - n + direct]
  local size = #ticket
  if size < 14 then
    return nil
  end
  local own = byte(ticket, 2) == 46
  if own and not (byte(ticket, 1) == 48 and byte(ticket, 13) == 58) or not own and size ~= 22 then
    return nil
  end
  if i <= n then
    ids[i] = own and string.sub(ticket, 14) or ticket
  end
end
local envelopes = n == 1 and { call('HGET', msg, ids[1]) }
  or n > 0 and call('HMGET', msg, unpack(ids))
local result = { now, -1 - us, 0, 0, '', '', '', nil, nil }
-- A small sorted set is one packed list, which the server reads from its start at each change. A
-- long member, which comes first, turns the set into a skip list. That stays until it is empty.
local long, many = '-----------------------------------------------------------------', n > 9
local deliver, offset = many and { '0', long } or n > 1 and {}, many and 2 or 0
local stop = now + lease
local ends = format('%d', stop)
for i = 1, n do
  local ticket, envelope = tickets[i], envelopes[i] or ''
  local version, flags = byte(envelope, 1, 2)
  if version ~= 0xD1 or #envelope < 4 or ticket == ids[i] and flags ~= 0
    or ticket ~= ids[i]
      and (flags ~= 1 or string.sub(envelope, 5, 14) ~= string.sub(ticket, 3, 12)) then
    return nil
  end
  if n > 1 then
    deliver[offset + 2 * i - 1], deliver[offset + 2 * i] = ends, ticket
  end
  result[2 * i + 6], result[2 * i + 7] = ticket, envelope
end
if lateness and n > 0 then
  result[2 * n + 8] = lateness(tickets, now, head)
end
local left = surplus
if (events_due or must_rewake) and ready_count == most then
  left = left + call('LLEN', ready) - ready_count
end

local acked_tickets, outcomes = argv[8] and { argv[8] } or {}, ''
if #argv > 8 then
  -- include verify_leases_fast
  outcomes, acked_tickets = verify_leases_fast()
end
if keep_history then
  keep_history(now)
end
if n > 0 then
  -- include lease_fast
elseif #acked_tickets == 0 then
  -- Even such a call must write: a server that is no longer primary refuses it.
  -- include noop_write
end
if many then
  acked_tickets[#acked_tickets + 1] = long
end
local acked_count = #acked_tickets > 0
  and call('ZREM', leased, unpack(acked_tickets)) - (many and 1 or 0) or 0
if surplus > 0 then
  call('RPUSH', ready, unpack(due, direct + 1))
end
if ready_count == 1 then
  call('LPOP', ready)
elseif ready_count > 0 then
  call('LTRIM', ready, format('%d', ready_count), '-1')
end
if due and #due > 0 then
  call('ZREMRANGEBYRANK', delayed, '0', #due == 1 and '0' or format('%d', #due - 1))
end
-- include fast_settle
local fields, is_new = must_rewake and {}, events_due
if n > 0 then
  local name, number, before = 'reserved', n, state[6]
  -- include count_fast
  if not first or stop - span < first then
    first, is_new = stop - span, true
  end
end
if acked_count > 0 then
  local name, number, before = 'acked', acked_count, state[7]
  -- include count_fast
end
if is_new or n == 0 or must_rewake then
  -- include finish_reserve
  result[2], result[3] =
    finish_reserve(n, left, first, state[1], fields or {}, events_due, direct, state[2], now,
      us, after)
end
-- include fast_keep
return result
