-- clear: takes all that waits away.
-- keys offered timeout reply
-- ARGV    number, keep, minute
-- Returns how many there were.

local count = redis.call('LLEN', offered)
redis.call('ZCARD', timeout)
redis.call('UNLINK', offered, timeout)
return keep_foreign_reply(count)
