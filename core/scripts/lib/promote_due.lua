-- defines promote_due; needs delayed; includes event_time precheck_full lane
-- Puts due tickets into their lanes, at most 100. The caller removes them from the front of
-- `delayed`. Returns how many there were, and the next due time (huge: none).
local function promote_due(now)
  local due =
    redis.call('ZRANGEBYSCORE', delayed, '-inf', string.format('%d', now), 'LIMIT', '0', '100')
  local at = event_time(redis.call('ZRANGE', delayed, #due, #due, 'WITHSCORES')[2])
  if #due > 0 then
    precheck_full()
    lane_push(due)
  end
  return #due, at
end
