-- Laravel's scores are whole seconds: the first that is not before a time in ms.
local function second_of(ms)
  return string.format('%d', math.ceil(ms / 1000))
end

-- How long until the first in one of two sets is due, in ms; -1: there is none.
local function pause_until_due(now, a, b)
  local first = math.min(
    tonumber(redis.call('ZRANGE', a, 0, 0, 'WITHSCORES')[2]) or math.huge,
    tonumber(redis.call('ZRANGE', b, 0, 0, 'WITHSCORES')[2]) or math.huge
  )
  if first > 4102444800 then
    return -1
  end
  return math.max(0, math.ceil(first) * 1000 - now)
end
