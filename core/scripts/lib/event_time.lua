-- defines event_time
-- A score as a time that may be the next event; huge where there is none.
local function event_time(score)
  local at = tonumber(score or '') or math.huge
  return at < 4102444800000 and math.max(0, math.ceil(at)) or math.huge
end
