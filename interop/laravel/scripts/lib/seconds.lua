-- defines second_of pause_until_due
-- The first whole second that is not before a time in ms: Laravel's scores are whole seconds.
local function second_of(ms)
  return string.format('%d', math.ceil(ms / 1000))
end

-- ms until the first job of two sets is due; -1: there is none, or not before the year 2100.
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
