-- clear: deletes all jobs of a Laravel queue. Quarantined payloads stay.
-- keys jobs later reserved notify reply
-- includes keep_foreign_reply
-- ARGV    number, keep, minute
-- Returns how many jobs were deleted, as text.

redis.call('LLEN', notify)
local count = redis.call('LLEN', jobs) + redis.call('ZCARD', later) + redis.call('ZCARD', reserved)
redis.call('DEL', jobs, later, reserved, notify)
return keep_foreign_reply(string.format('%d', count))
