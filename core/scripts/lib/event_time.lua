-- defines event_time
-- A score as the time of an event; huge: there is none, or it is too late to be one.
local function event_time(score)
  local at = tonumber(score or '') or math.huge
  return at < 4102444800000 and math.max(0, math.ceil(at)) or math.huge
end
