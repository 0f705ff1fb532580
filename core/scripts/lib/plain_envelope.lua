-- needs byte envelope name ticket
-- If an envelope is not that of the message of a ticket from the line of the group `name`, or has
-- headers, a policy, a time to live or a lease of its own, the script passes the call on.
local version, flags = byte(envelope, 1, 2)
local own = byte(ticket, 2) == 46 and byte(ticket, 3) ~= 61
if version ~= 0xD1 or #envelope < 4 or flags ~= (own and 1 or 0) + (name ~= '' and 128 or 0)
  or own and string.sub(envelope, 5, 14) ~= string.sub(ticket, 3, 12) then
  return nil
elseif name ~= '' then
  if string.find(name, '%', 1, true) then
    name = string.gsub(name, '%%(%x%x)', function(digits)
      return string.char(tonumber(digits, 16))
    end)
  end
  local at = own and 15 or 5
  if byte(envelope, at) ~= #name or string.find(envelope, name, at + 1, true) ~= at + 1 then
    return nil
  end
end
