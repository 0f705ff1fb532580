-- size: counts.
-- keys destination parked offered timeout quarantine
-- Returns { now ms, the next due ms (0: none), ready, delayed, 0, quarantined }, as of Laravel's queues.

local ready = redis.call('LLEN', destination) + redis.call('LLEN', parked)
return { (now_ms()), next_due(timeout) or 0, ready, redis.call('LLEN', offered), 0, redis.call('LLEN', quarantine) }
