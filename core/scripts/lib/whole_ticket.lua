-- needs name ticket
-- Makes a ticket from the line of the group `name` whole (lib/group_mark.lua, short_ticket).
if name ~= '' and not string.find(ticket, ':', 1, true) then
  ticket = '0.=' .. name .. ':' .. ticket
end
