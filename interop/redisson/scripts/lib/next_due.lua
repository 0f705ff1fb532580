-- The time of the first of a sorted set of times, in whole ms; nil where there is none. A time with a
-- fraction comes at the ms after it.
local function next_due(times)
  local due = tonumber(redis.call('ZRANGE', times, 0, 0, 'WITHSCORES')[2] or '')
  if due and due < 9007199254740991 then
    return math.max(1, math.ceil(due))
  end
end
