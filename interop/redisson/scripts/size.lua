-- size: counts the values of a delayed queue. Changes nothing.
-- keys destination parked offered timeout quarantine
-- includes now next_due
-- Returns { now ms, the next due ms (0: none), ready, delayed, 0, quarantined }, in the form of
--         Laravel's size, which has the reserved jobs where 0 is.

local ready = redis.call('LLEN', destination) + redis.call('LLEN', parked)
return {
  (now_ms()), next_due(timeout) or 0,
  ready, redis.call('LLEN', offered), 0, redis.call('LLEN', quarantine),
}
