-- size: counts the jobs of a Laravel queue. Changes nothing.
-- keys jobs later reserved quarantine
-- includes now seconds
-- Returns { now ms, the next due ms (0: none), jobs in the list, delayed, reserved, quarantined }.

local now = now_ms()
local pause = pause_until_due(now, later, reserved)
return {
  now, pause < 0 and 0 or now + pause,
  redis.call('LLEN', jobs), redis.call('ZCARD', later),
  redis.call('ZCARD', reserved), redis.call('LLEN', quarantine),
}
