-- contains: tells whether an element of a value waits.
-- KEYS[1] offered  LIST  packed elements, in the order of their offers
-- KEYS[2] timeout  ZSET  the same -> due, ms
-- ARGV    layout (0 as found, 1 new, 2 old), the value, and what Redisson writes of the same value where
--         that is another
-- Returns 0, or 3 where there is none.
local offered, timeout = KEYS[1], KEYS[2]
-- include element
-- include layout
-- include portions
-- include element_of

local element, layout = element_of(offered, timeout, tonumber(ARGV[1]), ARGV[2], ARGV[3])
if not layout then
  return layout_error(offered)
end
return element and DUEQ_OK or DUEQ_NOT_FOUND
