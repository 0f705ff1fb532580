-- defines group_of_ticket
-- The group of a ticket that says a first delivery; '': its message has none. Returns nil if it may
-- be another ticket, or none. lib/ticket.lua reads all tickets, and takes longer.
local function group_of_ticket(ticket)
  local zero, point, third = string.byte(ticket, 1, 3)
  if string.find(ticket, '%c') then
    return nil
  elseif point ~= 46 then
    return #ticket == 22 and string.find(ticket, '^%w+$') and '' or nil
  elseif zero ~= 48 then
    return nil
  end
  local mark = string.byte(ticket, 13)
  -- '!' (33) is one byte more before the group: lib/ticket.lua reads such a ticket.
  local from = third == 61 and 4 or third ~= 33 and mark == 61 and 14
  if not from then
    return mark == 58 and #ticket > 13 and string.find(ticket, '^%w+:', 3) and '' or nil
  end
  local stop = string.find(ticket, ':', from, true)
  return stop and stop > from and stop < #ticket and string.sub(ticket, from, stop - 1) or nil
end
