-- clear: takes all jobs of a queue of Laravel's away. What was set aside stays.
-- KEYS[1] jobs      LIST  payloads
-- KEYS[2] later     ZSET  payload -> due, seconds
-- KEYS[3] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[4] notify    LIST  a token for each job in the list
-- KEYS[5] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute
-- Returns how many jobs these were, as text.
local jobs, later, reserved, notify = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- include noted

redis.call('LLEN', notify)
local count = redis.call('LLEN', jobs) + redis.call('ZCARD', later) + redis.call('ZCARD', reserved)
redis.call('DEL', jobs, later, reserved, notify)
return noted(KEYS[5], string.format('%d', count))
