-- defines next_due
-- The earliest time of a sorted set, rounded up to whole ms; nil: the set is empty.
local function next_due(times)
  local due = tonumber(redis.call('ZRANGE', times, 0, 0, 'WITHSCORES')[2] or '')
  if due and due < 9007199254740991 then
    return math.max(1, math.ceil(due))
  end
end
