-- Puts what is due at the ends of its lines: at most 100, which the caller removes from the front of `delayed`. Returns
-- how many these were, and the next due time (huge: none).
local function promote(now)
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', string.format('%d', now), 'LIMIT', '0', '100')
  local at = event_time(redis.call('ZRANGE', delayed, #due, #due, 'WITHSCORES')[2])
  if #due > 0 then
    look_around()
    line_up(due)
  end
  return #due, at
end
