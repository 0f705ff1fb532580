-- reserve_groups: a reserve from a queue that has had messages with groups. If it meets limits,
-- many tickets in `ready`, or anything but first deliveries of plain messages, it changes nothing
-- and answers nil.
-- keys msg ready leased delayed wake meta reply high low groups lines turns
-- includes fast_begin refuse_wire fast_leases fast_due take_due take_one take_turns
-- includes first_delivery fast_terms plain_envelope verify_leases_fast noop_write lease_fast
-- includes fast_settle count_fast due_lateness finish_reserve fast_keep
-- args as reserve
-- passes on to reserve_groups_full
-- Returns what reserve returns, or with the flag l what reserve_timed returns; or nil.
-- include fast_begin
local sub, pack = string.sub, struct.pack
local state = call('HMGET', meta, 'next_event', 'timekeepers', 'turns', 'wire', 'reserved',
  'limited')
local wire, reserved = state[4], state[5]
if wire then
  -- include refuse_wire
end
local first = tonumber(state[1] or '')
local events_due = not first or first <= now
local at, joined = string.match(state[3] or '', '^(%d+) (%d+)$')
if most == 0 or not state[1] or not at or #at > 15 or #joined > 15 or state[6]
  or first and not (first > 0 and first <= 4102444800000 and first % 1 == 0) then
  return nil
end
local arrivals, arrived, due, head, after = nil, 0, nil, nil, nil
if call('EXISTS', high, low, ready) > 0 then
  arrivals = call('LRANGE', ready, '0', '250')
  arrived = #arrivals
  -- Released messages stand at the front of `ready`.
  if arrived > 250 or (call('HGET', meta, 'returned') or '0') ~= '0'
    or call('EXISTS', high, low) > 0 then
    return nil
  end
end
if most > 1 and call('HEXISTS', meta, 'large') == 1 then
  return nil
end
-- include fast_leases
if events_due then
  -- lib/fast_due.lua finds the time of the outbox in this place.
  state[4] = call('HGET', meta, 'outbox_event')
  -- include fast_due
end
if due and due[1] then
  arrivals = arrivals or { nil }
  for i = 1, #due do
    arrivals[arrived + i] = due[i]
  end
end

local tickets, names, ids, n, left = { nil }, { nil }, { nil }, 0, 0
-- What is written of the groups: these texts (lib/take_one.lua), or what three functions write.
local name, mark, turn, gone, segment = nil, nil, nil, nil, nil
local floor, all_passed, write, remove, note = at + 0, false, nil, nil, nil
if most == 1 and not arrivals then
  -- include take_one
elseif most == 1 and arrived == 0 and #due == 1 then
  -- include take_due
end
if n == 0 and not all_passed then
  -- include take_turns
end
for i = 1, n do
  if not ids[i] then
    local ticket, name = tickets[i], names[i]
    -- include first_delivery
    ids[i] = id
  end
end
-- include fast_terms
for i = 1, n do
  local ticket, name, envelope = tickets[i], names[i], envelopes[i] or ''
  -- include plain_envelope
  if n > 1 then
    deliver[offset + 2 * i - 1], deliver[offset + 2 * i] = ends, ticket
  end
  result[2 * i + 6], result[2 * i + 7] = ticket, envelope
end
-- include due_lateness

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
if write then
  write()
elseif mark then
  call('ZADD', turns, turn, name)
  call('HSET', groups, name, mark)
end
local acked_count = #acked_tickets > 0
  and call('ZREM', leased, unpack(acked_tickets)) - (many and 1 or 0) or 0
if remove then
  remove()
else
  if gone then
    call('ZREM', turns, unpack(gone))
    call('HDEL', groups, unpack(gone))
  end
  if segment then
    call('HDEL', lines, segment)
  end
end
if arrived > 0 then
  call('LTRIM', ready, format('%d', arrived), '-1')
end
if due and #due > 0 then
  call('ZREMRANGEBYRANK', delayed, '0', #due == 1 and '0' or format('%d', #due - 1))
end
-- include fast_settle
local fields, is_new = {}, events_due
if note then
  note(fields)
elseif mark then
  fields[1], fields[2] = 'turns', format('%d ', floor) .. joined
elseif state[3] ~= '0 0' then
  -- No group is left, so the virtual time begins anew.
  fields[1], fields[2] = 'turns', '0 0'
end
if n > 0 then
  local name, number, before = 'reserved', n, reserved
  -- include count_fast
  if not first or stop - span < first then
    first, is_new = stop - span, true
  end
end
if acked_count > 0 then
  local name, number, before = 'acked', acked_count, nil
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
