-- size: counts.
-- keys destination parked offered timeout aside
-- Returns { now ms, the next due ms (0: none), ready, delayed, 0, set aside }, as of Laravel's queues.

local ready = redis.call('LLEN', destination) + redis.call('LLEN', parked)
return { (now_ms()), next_due(timeout) or 0, ready, redis.call('LLEN', offered), 0, redis.call('LLEN', aside) }
