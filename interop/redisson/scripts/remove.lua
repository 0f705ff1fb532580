-- remove: takes the longest offered element of a value away.
-- KEYS[1] offered  LIST  packed elements, in the order of their offers
-- KEYS[2] timeout  ZSET  the same -> due, ms
-- KEYS[3] reply    STRING  what the session's last call answered
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), the value, and what Redisson writes
--         of the same value where that is another
-- Returns 0, or 3 where there is none.
local offered, timeout = KEYS[1], KEYS[2]
-- include element
-- include layout
-- include portions
-- include element_of
-- include noted

local element, layout = element_of(offered, timeout, tonumber(ARGV[4]), ARGV[5], ARGV[6])
if not layout then
  return layout_error(offered)
end
if not element then
  return noted(KEYS[3], DUEQ_NOT_FOUND)
end
redis.call('ZREM', timeout, element)
redis.call('LREM', offered, 1, element)
return noted(KEYS[3], DUEQ_OK)
