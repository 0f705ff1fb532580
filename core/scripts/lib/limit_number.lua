-- defines limit_number
-- The number that a text says, from 1 to 1000000; nil: it says none.
local function limit_number(text)
  local number = text and #text <= 7 and string.find(text, '^[1-9]%d*$') and tonumber(text)
  return number and number <= 1000000 and number or nil
end
