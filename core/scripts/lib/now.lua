-- defines now_ms
-- The server's clock: whole milliseconds since 1970, and the microseconds since then.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
end
