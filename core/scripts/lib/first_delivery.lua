-- defines id; needs byte name ticket
-- The id in a ticket from the line of the group `name`. If it does not say a first delivery, the
-- script passes the call on.
local id = nil
local zero, point, third = byte(ticket, 1, 3)
if name == '' then
  if zero == 48 and point == 46 and byte(ticket, 13) == 58 then
    id = string.sub(ticket, 14)
  elseif point ~= 46 and #ticket == 22 then
    id = ticket
  end
elseif zero == 48 and point == 46 then
  local at = third == 61 and 4 or 14
  local stop = at + #name
  if byte(ticket, at - 1) == 61 and byte(ticket, stop) == 58
    and string.find(ticket, name, at, true) == at then
    id = string.sub(ticket, stop + 1)
  end
end
if not id then
  return nil
end
