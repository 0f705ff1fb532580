-- defines due_time
-- The time in ms that a due word says: '0' (now), '+ms' from now, or '@ms' since 1970.
local function due_time(word, now)
  local ms = tonumber(string.sub(word, 2)) or 0
  return string.byte(word) == 43 and now + ms or ms
end
