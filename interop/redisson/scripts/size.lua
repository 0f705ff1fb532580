-- size: counts.
-- KEYS[1] destination  LIST  values that are due
-- KEYS[2] parked       LIST  those that a waiting call was given, or that its end left
-- KEYS[3] offered      LIST  packed elements, in the order of their offers
-- KEYS[4] timeout      ZSET  the same -> due, ms
-- KEYS[5] aside        LIST  elements that are of neither layout
-- Returns { now ms, the next due ms (0: none), ready, delayed, 0, set aside }, as of Laravel's queues.
local destination, parked, offered, timeout, aside = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include next_due

local ready = redis.call('LLEN', destination) + redis.call('LLEN', parked)
return { (now_ms()), next_due(timeout) or 0, ready, redis.call('LLEN', offered), 0, redis.call('LLEN', aside) }
