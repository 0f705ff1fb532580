-- contains: looks for a waiting element of a value.
-- keys offered timeout
-- includes element_of layout_found
-- ARGV    layout (0 as found, 1 new, 2 old), the value, and, if Redisson writes the same value in
--         other bytes, these
-- Returns 0, or 3: not found.

local element, layout = element_of(offered, timeout, tonumber(ARGV[1]), ARGV[2], ARGV[3])
if not layout then
  return layout_error(offered)
end
return element and DUEQ_OK or DUEQ_NOT_FOUND
