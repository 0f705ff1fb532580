-- A ticket is "before:id", or "before.stamp:id" where the producer gave the id; `before` is the number of
-- deliveries that ended before this one, nine digits at most. It stays the same from READY (or DELAYED)
-- to LEASED, and rises when the message comes back: so a stale holder's ticket matches nothing. An id that
-- the core made (22 base-62 digits) is its own ticket for the first delivery.
-- Returns before, id, stamp (nil without one); nil where it is no ticket.
local function ticket_read(ticket)
  local stamp
  local before, id = string.match(ticket, '^(%d+):(.+)$')
  if not before then
    before, stamp, id = string.match(ticket, '^(%d+)%.(%w+):(.+)$')
  end
  if before and #before < 10 then
    return tonumber(before), id, stamp
  elseif #ticket == 22 and string.find(ticket, '^%w+$') then
    return 0, ticket
  end
end

local function ticket_write(before, id, stamp)
  if stamp then
    return string.format('%d.%s:%s', before, stamp, id)
  elseif before == 0 and #id == 22 and string.find(id, '^%w+$') then
    return id
  end
  return string.format('%d:%s', before, id)
end
