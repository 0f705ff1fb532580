-- contains: tells whether an element of a value waits.
-- keys offered timeout
-- ARGV    layout (0 as found, 1 new, 2 old), the value, and what Redisson writes of the same value where
--         that is another
-- Returns 0, or 3 where there is none.

local element, layout = element_of(offered, timeout, tonumber(ARGV[1]), ARGV[2], ARGV[3])
if not layout then
  return layout_error(offered)
end
return element and DUEQ_OK or DUEQ_NOT_FOUND
