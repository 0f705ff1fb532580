-- Keeps the history: at the first call in a minute, before it counts anything, the totals so far are
-- noted; the last 360 of them. "In" is how many tickets ever came to `ready`: the head's place among
-- them tells about when it came (see stats.lua). A queue is not made by it: `first` where the call is a push.
local function tally(info, ready, rates, now, first)
  local minute = string.format('%d', math.floor(now / 60000))
  local names = { 'pushed', 'reserved', 'acked', 'retried', 'expired', 'buried', 'cancelled', 'skew', 'minute' }
  local values = redis.pcall('HMGET', info, unpack(names))
  local length = redis.pcall('LLEN', ready)
  if values.err or type(length) == 'table' or values[9] == minute or not (values[1] or first) then
    return
  end
  for i = 1, 8 do
    values[i] = tonumber(values[i]) or 0
  end
  local came = length + values[2] + values[8]
  -- On a full server it writes nothing: after a first write the server lets a script fill it further.
  if type(redis.pcall('HSET', info, 'minute', minute)) == 'table' then
    return
  end
  redis.pcall('LPUSH', rates, string.format('%d %d %d %d %d %d %d %d %d', now, came, unpack(values, 1, 7)))
  redis.pcall('LTRIM', rates, 0, 359)
end
