-- clear: takes all that waits away.
-- KEYS[1] offered  LIST  packed elements, in the order of their offers
-- KEYS[2] timeout  ZSET  the same -> due, ms
-- KEYS[3] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh
-- Returns how many there were.
local offered, timeout, calls = KEYS[1], KEYS[2], KEYS[3]
-- include noted

local count = redis.call('LLEN', offered)
redis.call('ZCARD', timeout)
redis.call('UNLINK', offered, timeout)
return noted(calls, count)
