-- defines sort_arrivals; needs meta ready
-- includes ticket join_lines group_line group_mark group_of_ticket turns
-- Sorts the first `most` tickets of `ready`, or fewer, into the lines of their groups. `returned`:
-- how many of them came back and go to the fronts of their lines. garbage: gets what is no ticket;
-- nil: the sorting ends before it. is_begun: whether a message was begun in a group in the order
-- strict, and goes to the front too, before those that came back: one of these may have come back
-- before its group got this order. nil: the script cannot know that. So where groups have limits,
-- the sorting ends before a message that was delivered. The caller removes the tickets from
-- `ready`. Returns how many it has sorted.
local function sort_arrivals(most, returned, garbage, is_begun)
  local tickets, fresh, names = redis.call('LRANGE', ready, 0, most - 1), {}, {}
  local back, names_back, first, names_first, count = {}, {}, {}, {}, #tickets
  for i, ticket in ipairs(tickets) do
    local name, was_begun = group_of_ticket(ticket), false
    if not name then
      local deliveries, _, suffix = ticket_read(ticket)
      name = deliveries and group_of(suffix)
      if name and name ~= '' and i > returned then
        if not is_begun and redis.call('HGET', meta, 'limited') == '2' then
          count = i - 1
          break
        end
        was_begun = is_begun and is_begun(ticket, name)
      end
    end
    if was_begun then
      first[#first + 1], names_first[#names_first + 1] = ticket, name
    elseif name and i <= returned then
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
  lines_read(names_first)
  for i = #first, 1, -1 do
    line_return(line_join(names_first[i]), first[i])
  end
  join_lines(fresh, names)
  return count
end
