-- defines rate_terms
-- Gives a limit the terms of its rate, as lib/limits.lua has them. number and unit: so many
-- messages in a second, minute or hour; burst: nil: what the rate allows in 100 ms.
local function rate_terms(limit, number, unit, burst)
  local span = ({ s = 1000000, m = 60000000, h = 3600000000 })[unit]
  limit.interval = span / number
  burst = burst or math.max(1, math.floor(number * 100000 / span))
  limit.tolerance = (burst - 1) * limit.interval
end
