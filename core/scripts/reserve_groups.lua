-- reserve_groups: a reserve from a queue that has had messages with groups. If it meets anything but
-- first deliveries of plain messages, or many tickets in `ready`, it changes nothing and answers
-- nil.
-- keys msg ready leased delayed wake meta reply high low groups lines turns
-- includes fast_begin refuse_wire fast_leases fast_due group_of_ticket turns join_lines
-- includes first_delivery verify_leases_fast noop_write lease_fast fast_settle count_fast
-- includes finish_reserve fast_keep
-- args as reserve
-- passes on to reserve_groups_full
-- Returns what reserve returns, or nil.
-- include fast_begin
local state = call('HMGET', meta, 'next_event', 'timekeepers', 'turns', 'outbox_event', 'wire',
  'reserved', 'acked', 'ready_offset', 'returned', 'large')
local wire = state[5]
if wire then
  -- include refuse_wire
end
local first = tonumber(state[1] or '')
local events_due = not first or first <= now
if most == 0 or ordered or not state[1] or not state[3] or state[10]
  or state[9] and state[9] ~= '0'
  or first and not (first > 0 and first <= 4102444800000 and first % 1 == 0) then
  return nil
end
local arrivals, arrived, due, head, after = nil, 0, nil, nil, nil
if call('EXISTS', high, low, ready) > 0 then
  arrivals = call('LRANGE', ready, '0', '250')
  arrived = #arrivals
  if arrived > 250 or call('EXISTS', high, low) > 0 then
    return nil
  end
end
-- include fast_leases
if events_due then
  -- include fast_due
end

-- What came to `ready`, and behind it what fell due, joins the lines.
turns_begin(state[3], true)
if due and #due > 0 then
  arrivals = arrivals or { nil }
  for i = 1, #due do
    arrivals[arrived + i] = due[i]
  end
end
if arrivals then
  local names = { nil }
  for i = 1, #arrivals do
    names[i] = group_of_ticket(arrivals[i])
    if not names[i] then
      return nil
    end
  end
  join_lines(arrivals, names)
end

local tickets, names, ids, n = { nil }, { nil }, { nil }, 0
while n < most do
  local ticket, line = turn_take(most)
  local id = ticket and first_delivery(ticket, line.name)
  if not ticket then
    break
  elseif not id then
    return nil
  end
  n = n + 1
  tickets[n], names[n], ids[n] = ticket, line.name, id
end
local envelopes = n == 1 and { call('HGET', msg, ids[1]) }
  or n > 0 and call('HMGET', msg, unpack(ids))
local result = { now, -1 - us, 0, 0, '', '', '', nil, nil }
-- The long member is that of lib/fast.lua.
local long, many = '-----------------------------------------------------------------', n > 9
local deliver, offset = many and { '0', long } or n > 1 and {}, many and 2 or 0
local stop = now + lease
local ends = format('%d', stop)
for i = 1, n do
  local ticket, envelope = tickets[i], envelopes[i]
  if not envelope or not is_plain_message(envelope, ticket, names[i]) then
    return nil
  end
  if n > 1 then
    deliver[offset + 2 * i - 1], deliver[offset + 2 * i] = ends, ticket
  end
  result[2 * i + 6], result[2 * i + 7] = ticket, envelope
end
if unreadable[1] then
  return nil
end
local left = (events_due or must_rewake or n == 0) and turns_left() or 0

local acked_tickets, outcomes = argv[8] and { argv[8] } or {}, ''
if #argv > 8 then
  -- include verify_leases_fast
  outcomes, acked_tickets = verify_leases_fast()
end
if n > 0 then
  -- include lease_fast
elseif #acked_tickets == 0 then
  -- include noop_write
end
if many then
  acked_tickets[#acked_tickets + 1] = long
end
write_turns()
local acked_count = #acked_tickets > 0
  and call('ZREM', leased, unpack(acked_tickets)) - (many and 1 or 0) or 0
remove_turns()
if arrived > 0 then
  call('LTRIM', ready, format('%d', arrived), '-1')
end
if due and #due > 0 then
  call('ZREMRANGEBYRANK', delayed, '0', #due == 1 and '0' or format('%d', #due - 1))
end
-- include fast_settle
local fields, is_new = {}, events_due
turns_meta(fields)
if n > 0 then
  local name, number, before = 'reserved', n, state[6]
  -- include count_fast
  if not first or stop - span < first then
    first, is_new = stop - span, true
  end
end
if arrived ~= n then
  -- `reserved` and `ready_offset` together count the tickets that left `ready`.
  local name, number, before = 'ready_offset', arrived - n, state[8]
  -- include count_fast
end
if acked_count > 0 then
  local name, number, before = 'acked', acked_count, state[7]
  -- include count_fast
end
if is_new or n == 0 or must_rewake then
  -- include finish_reserve
  result[2], result[3] =
    finish_reserve(n, left, first, state[1], fields, events_due, due and #due or 0, state[2], now,
      us, after)
elseif fields[1] then
  call('HSET', meta, unpack(fields))
end
-- include fast_keep
return result
