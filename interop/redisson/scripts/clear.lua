-- clear: deletes all waiting values.
-- keys offered timeout reply
-- includes keep_foreign_reply
-- ARGV    number, keep, minute
-- Returns how many values were deleted.

local count = redis.call('LLEN', offered)
redis.call('ZCARD', timeout)
redis.call('UNLINK', offered, timeout)
return keep_foreign_reply(count)
