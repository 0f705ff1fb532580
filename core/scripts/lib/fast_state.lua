-- defines direct due events_due head ready_count tickets
-- needs call format leased meta most must_rewake now ordered ready
-- includes refuse_wire
-- Reads the state of the queue, and the first tickets of `ready`. A fast reserve begins with this,
-- and passes the call on if the state needs a full reserve.
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
