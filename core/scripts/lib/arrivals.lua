-- defines sort_arrivals; needs ready
-- includes ticket join_lines group_line group_mark group_of_ticket turns
-- Sorts the first `most` tickets of `ready`, or fewer, into the lines of their groups. `returned`:
-- how many of them came back and go to the fronts of their lines. garbage: gets what is no ticket;
-- nil: the sorting ends before it. The caller removes the tickets from `ready`.
-- Returns how many it has sorted.
local function sort_arrivals(most, returned, garbage)
  local tickets, fresh, names = redis.call('LRANGE', ready, 0, most - 1), {}, {}
  local back, names_back, count = {}, {}, #tickets
  for i, ticket in ipairs(tickets) do
    local name = group_of_ticket(ticket)
    if not name then
      local deliveries, _, suffix = ticket_read(ticket)
      name = deliveries and group_of(suffix)
    end
    if name and i <= returned then
      back[#back + 1], names_back[#names_back + 1] = ticket, name
    elseif name then
      fresh[#fresh + 1], names[#names + 1] = ticket, name
    elseif garbage then
      garbage[#garbage + 1] = ticket
    else
      count = i - 1
      break
    end
  end
  lines_read(names_back)
  for i = #back, 1, -1 do
    line_return(line_join(names_back[i]), back[i])
  end
  join_lines(fresh, names)
  return count
end
