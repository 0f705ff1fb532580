-- defines has_timekeeper
-- Does a timekeeper (lib/timekeeper.lua) look at the time `at` or before? One that is late by 200
-- ms is gone.
local function has_timekeeper(timekeepers, at, now)
  for text in string.gmatch(timekeepers or '', '(%d+):') do
    local time = tonumber(text)
    if time <= at and time + 200 > now then
      return true
    end
  end
  return false
end
