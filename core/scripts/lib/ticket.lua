-- defines ticket_read ticket_write; includes suffix text
-- A ticket is "DELIVERIES:ID" or "DELIVERIES.SUFFIX:ID". DELIVERIES: how many deliveries ended
-- before this one, at most nine digits. SUFFIX: '!' if the end of the message is noted, the
-- incarnation (10 base-62 digits) if the producer gave the id, then 'h' or 'l' if the priority is
-- high or low, or '=' and the group if the message has one (lib/envelope_suffix.lua). An id that
-- the core made (22 base-62 digits) is its own ticket for the first delivery, without a suffix. A
-- ticket stays the same from ready (or delayed) to leased, and rises when the message comes back:
-- so the ticket of a lost lease matches nothing.
-- Returns deliveries, id, suffix (nil: none); nil if it is no ticket.
local function ticket_read(ticket)
  local deliveries, id = string.match(ticket, '^(%d+):(.+)$')
  local suffix
  if not deliveries then
    deliveries, suffix, id = string.match(ticket, '^(%d+)%.([^:]+):(.+)$')
    if suffix and not is_suffix(suffix) then
      return nil
    end
  end
  if deliveries and #deliveries < 10 and is_text(id) then
    return tonumber(deliveries), id, suffix
  elseif not deliveries and #ticket == 22 and string.find(ticket, '^%w+$') then
    return 0, ticket
  end
end

local function ticket_write(deliveries, id, suffix)
  if suffix then
    return string.format('%d.%s:', deliveries, suffix) .. id
  elseif deliveries == 0 and #id == 22 and string.find(id, '^%w+$') then
    return id
  end
  return string.format('%d:', deliveries) .. id
end
