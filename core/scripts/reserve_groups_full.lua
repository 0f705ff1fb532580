-- reserve_groups_full: reserve_full for a queue that has had messages with groups.
-- keys msg ready leased delayed wake meta reply high low dead outbox attempts quarantine rates
-- keys failures groups lines turns limits working parked timers rated holds begun
-- keys ends kept started awaited guests unique batches batch_ends served_even served_odd
-- includes turns arrivals group_limits full
-- args as reserve_full
-- passes on to reserve_full
-- Returns what reserve_full returns, or nil if the queue has had no groups.
local by_turns = { sorted = 0, returned = 0, has_come_back = false }
local batch = {}

-- Sorts the tickets of `ready` into the lines. Tickets of released messages stand at the front of
-- `ready`. One call sorts all of them: a second call would put its own before those of the first.
function by_turns.sort(returned, garbage)
  by_turns.returned = math.min(tonumber(string.match(returned or '', '^%d+$') or 0), 4000)
  by_turns.sorted = sort_arrivals(math.max(250, by_turns.returned), by_turns.returned, garbage,
    group_gate.is_begun)
end

function by_turns.bring_back(takes)
  by_turns.has_come_back = group_gate.bring_back(takes) or by_turns.has_come_back
end

-- The next tickets, at most `most`, in the order of the turns.
function by_turns.take(most)
  local tickets = {}
  batch = {}
  by_turns.bring_back(true)
  for i = 1, most do
    local before = floor
    local ticket, line = turn_take(most)
    if not ticket then
      break
    end
    tickets[i], batch[i] = ticket, { ticket = ticket, line = line, floor = before }
  end
  return tickets
end

-- select_messages calls this for each ticket that take() gave it, in their order. i: the ticket's
-- place among these; leaves: the ticket leaves its line; is_delivered: this call delivers its
-- message. A ticket that leaves without a delivery costs its group no turn. One that stays was not
-- taken: the floor is again what it was, so that no new group waits for turns that nobody had.
function by_turns.judged(i, leaves, is_delivered)
  batch[i].stays, batch[i].is_free = not leaves, not is_delivered
  if is_delivered then
    group_gate.begins(batch[i].ticket)
  end
  if i < #batch then
    return
  end
  local undone = false
  for k = i, 1, -1 do
    if batch[k].is_free then
      turn_undo(batch[k].line, batch[k].stays and batch[k].ticket or nil)
      undone, floor = true, batch[k].stays and batch[k].floor or floor
    end
  end
  if undone then
    turns_sort()
  end
end

-- us: the server's clock in microseconds, where the queue has limits of groups; else false.
function by_turns.begin(text, us)
  -- Types of keys are checked before the first write.
  redis.call('HLEN', groups)
  redis.call('HLEN', lines)
  redis.call('ZCARD', turns)
  if us then
    group_gate.begin(us)
  end
  turns_begin(text, true, us and group_gate)
end

function by_turns.write()
  by_turns.bring_back(false)
  write_turns()
  group_gate.write()
end

function by_turns.remove()
  remove_turns()
  group_gate.remove()
end

function by_turns.meta(fields)
  turns_meta(fields, group_gate.has_parked())
end

by_turns.left, by_turns.unreadable = turns_left, unreadable
by_turns.leave, by_turns.enter, by_turns.ends = group_gate.leave, group_gate.enter, group_gate.ends
by_turns.wait, by_turns.next_timer = group_gate.wait, group_gate.next_timer
-- include full
