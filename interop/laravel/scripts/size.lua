-- size: counts a queue of Laravel's. It changes nothing.
-- KEYS[1] jobs      LIST  payloads
-- KEYS[2] later     ZSET  payload -> due, seconds
-- KEYS[3] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[4] aside     LIST  payloads that a worker of Laravel's would lose
-- Returns { now ms, the next due ms (0: none), jobs in the list, later, reserved, set aside }.
local jobs, later, reserved, aside = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- include now
-- include seconds

local now = now_ms()
local pause = pause_until_due(now, later, reserved)
return {
  now, pause < 0 and 0 or now + pause,
  redis.call('LLEN', jobs), redis.call('ZCARD', later), redis.call('ZCARD', reserved), redis.call('LLEN', aside),
}
