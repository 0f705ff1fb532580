-- clear: takes all jobs of a queue of Laravel's away. What was set aside stays.
-- KEYS[1] jobs      LIST  payloads
-- KEYS[2] later     ZSET  payload -> due, seconds
-- KEYS[3] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[4] notify    LIST  a token for each job in the list
-- KEYS[5] calls     HASH  session -> its last call and answer
-- ARGV    session, call number, fresh
-- Returns how many jobs these were, as text.
local jobs, later, reserved, notify, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include noted

redis.call('LLEN', notify)
local count = redis.call('LLEN', jobs) + redis.call('ZCARD', later) + redis.call('ZCARD', reserved)
redis.call('DEL', jobs, later, reserved, notify)
return noted(calls, string.format('%d', count))
