-- include text
-- A ticket is "before:id", or "before.tag:id"; `before` is the number of deliveries that ended before this
-- one, nine digits at most. The tag is the stamp (10 base-62 digits) where the producer gave the id, and
-- 'h' or 'l' where the priority is high or low. A ticket stays the same from READY (or DELAYED) to LEASED,
-- and rises when the message comes back: so a stale holder's ticket matches nothing. An id that the core
-- made (22 base-62 digits) is its own ticket for the first delivery, without a tag.
-- Returns before, id, tag (nil without one); nil where it is no ticket.
local function ticket_read(ticket)
  local before, id = string.match(ticket, '^(%d+):(.+)$')
  local tag
  if not before then
    before, tag, id = string.match(ticket, '^(%d+)%.(%w+):(.+)$')
    local size, mark = tag and #tag, tag and string.sub(tag, -1)
    if size and size ~= 10 and not ((size == 1 or size == 11) and (mark == 'h' or mark == 'l')) then
      return nil
    end
  end
  if before and #before < 10 and is_text(id) then
    return tonumber(before), id, tag
  elseif not before and #ticket == 22 and string.find(ticket, '^%w+$') then
    return 0, ticket
  end
end

local function ticket_write(before, id, tag)
  if tag then
    return string.format('%d.%s:', before, tag) .. id
  elseif before == 0 and #id == 22 and string.find(id, '^%w+$') then
    return id
  end
  return string.format('%d:', before) .. id
end
