-- needs arrivals events_due left most must_rewake n names note remove state tickets write
-- includes group_of_ticket turns join_lines
-- Takes tickets of the groups by turns. First the tickets in `ready`, and those that are due, join
-- the lines of their groups.
turns_begin(state[3], true)
if arrivals then
  local groups_of = { nil }
  for i = 1, #arrivals do
    groups_of[i] = group_of_ticket(arrivals[i])
    if not groups_of[i] then
      return nil
    end
  end
  join_lines(arrivals, groups_of)
end
while n < most do
  local ticket, line = turn_take(most)
  if not ticket then
    break
  end
  n = n + 1
  tickets[n], names[n] = ticket, line.name
end
if unreadable[1] then
  return nil
end
left = (events_due or must_rewake or n == 0) and turns_left() or 0
write, remove, note = write_turns, remove_turns, turns_meta
