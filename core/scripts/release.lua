-- release: gives leased messages back uncounted: to the fronts of their lanes, in their order, or
-- delayed.
-- keys msg ready high low delayed leased wake meta attempts reply
-- keys turns working parked timers
-- includes now leased_message ticket attempts deferred_removals put_tickets enqueue bulk note_event
-- includes keep_reply refuse_wire noop_write lane count wake give_places
-- args delay in ms, tickets
-- Returns a digit for each: 0 done, 4 the lease is lost.

local state = redis.pcall('HMGET', meta, 'wire', 'turns', 'held')
local wire = state[1]
-- include refuse_wire
-- include noop_write
local now, delay = now_ms(), tonumber(ARGV[4])
local outcome, back, records, seen, taken_out = {}, {}, {}, {}, {}
for i = 5, #ARGV do
  local id, _, had = nil, nil, nil
  if not seen[ARGV[i]] then
    id, _, had = leased_message(ARGV[i])
  end
  seen[ARGV[i]] = true
  outcome[i - 4] = id and DUEQ_OK or DUEQ_LEASE_LOST
  if id then
    had.forgiven = had.forgiven + 1
    -- The last ticket comes first: each is put in front of the one before.
    table.insert(back, 1, ticket_write(had.deliveries, id, had.suffix))
    records[#records + 1], records[#records + 2] = id, attempts_write(had)
    taken_out[#taken_out + 1] = ARGV[i]
    defer_removal('ZREM', leased, ARGV[i])
  end
end
-- include give_places
if delay > 0 then
  put_tickets(delayed, now + delay, back)
else
  enqueue(back, true)
  local to_front = 0
  for _, ticket in ipairs(back) do
    to_front = to_front + (lane_of(ticket) == 'ready' and 1 or 0)
  end
  -- The next reserve puts them to the fronts of the lines of their groups.
  count('returned', state[2] and to_front or 0)
end
bulk('HSET', attempts, records)
local returned = give_places and give_places() or 0
run_removals()
if (state[3] == '1' or returned > 0) and #back > 0 then
  wake_one(#back > 1)
end
if delay > 0 and #back > 0 then
  note_event(now + delay, now)
end
return keep_reply(table.concat(outcome))
