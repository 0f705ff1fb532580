-- defines sort_arrivals; needs ready; includes ticket group_line group_mark turns
-- Sorts the first `most` tickets of `ready`, or fewer, into the lines of their groups. `returned`:
-- how many of them came back and go to the fronts of their lines. garbage: gets what is no ticket;
-- nil: the sorting ends before it. The caller removes the tickets from `ready`.
-- Returns how many it has sorted.
local function sort_arrivals(most, returned, garbage)
  local tickets, names, groups_of = redis.call('LRANGE', ready, 0, most - 1), {}, {}
  local count = #tickets
  for i, ticket in ipairs(tickets) do
    local deliveries, _, suffix = ticket_read(ticket)
    if deliveries then
      groups_of[i] = group_of(suffix)
      names[#names + 1] = groups_of[i]
    elseif garbage then
      garbage[#garbage + 1] = ticket
    else
      count = i - 1
      break
    end
  end
  lines_read(names)
  for i = math.min(returned, count), 1, -1 do
    if groups_of[i] then
      line_return(line_join(groups_of[i]), tickets[i])
    end
  end
  for i = returned + 1, count do
    if groups_of[i] then
      line_append(line_join(groups_of[i]), tickets[i])
    end
  end
  return count
end
