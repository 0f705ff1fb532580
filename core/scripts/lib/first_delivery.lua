-- defines first_delivery is_plain_message
-- What a fast reserve from lines knows of a ticket and its message: a first delivery without
-- headers, policy, time to live or lease of its own. All else is for reserve_groups_full.
local byte, find, sub = string.byte, string.find, string.sub

-- The id in a ticket from the line of the group `name`; nil: it is no such ticket.
local function first_delivery(ticket, name)
  local zero, point, third = byte(ticket, 1, 3)
  if name == '' then
    local own = point == 46
    if own and zero == 48 and byte(ticket, 13) == 58 then
      return sub(ticket, 14)
    end
    return not own and #ticket == 22 and ticket or nil
  end
  local at = third == 61 and 4 or 14
  local stop = at + #name
  if zero == 48 and point == 46 and byte(ticket, at - 1) == 61 and byte(ticket, stop) == 58
    and find(ticket, name, at, true) == at then
    return sub(ticket, stop + 1)
  end
end

-- Whether an envelope is that of the message of such a ticket.
local function is_plain_message(envelope, ticket, name)
  local version, flags = byte(envelope, 1, 2)
  local own = byte(ticket, 2) == 46 and byte(ticket, 3) ~= 61
  if version ~= 0xD1 or #envelope < 4 or flags ~= (own and 1 or 0) + (name ~= '' and 128 or 0)
    or own and sub(envelope, 5, 14) ~= sub(ticket, 3, 12) then
    return false
  elseif name == '' then
    return true
  end
  if find(name, '%', 1, true) then
    name = string.gsub(name, '%%(%x%x)', function(digits)
      return string.char(tonumber(digits, 16))
    end)
  end
  local at = own and 15 or 5
  return byte(envelope, at) == #name and find(envelope, name, at + 1, true) == at + 1
end
