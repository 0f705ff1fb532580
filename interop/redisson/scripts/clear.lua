-- clear: takes all that waits away.
-- KEYS[1] offered  LIST  packed elements, in the order of their offers
-- KEYS[2] timeout  ZSET  the same -> due, ms
-- KEYS[3] reply    STRING  what the session's last call answered
-- ARGV    number, keep, minute
-- Returns how many there were.
local offered, timeout = KEYS[1], KEYS[2]
-- include noted

local count = redis.call('LLEN', offered)
redis.call('ZCARD', timeout)
redis.call('UNLINK', offered, timeout)
return noted(KEYS[3], count)
