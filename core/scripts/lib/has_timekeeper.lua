-- defines has_timekeeper
-- Whether a timekeeper (lib/timekeeper.lua) looks at the time `at` or before. One that is 200 ms
-- late counts as dead.
local function has_timekeeper(timekeepers, at, now)
  for text in string.gmatch(timekeepers or '', '(%d+):') do
    local time = tonumber(text)
    if time <= at and time + 200 > now then
      return true
    end
  end
  return false
end
