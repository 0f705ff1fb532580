-- peek: reads waiting values, in the order in which they were offered.
-- keys offered timeout
-- includes layout_found now values_reply
-- ARGV    layout (0 as found, 1 new, 2 old), how many at most
-- Returns as lib/values_reply.lua, or { now ms, -1 }: no value waits.

local elements = redis.call('LRANGE', offered, 0, tonumber(ARGV[2]) - 1)
local layout = layout_found(offered, timeout, tonumber(ARGV[1]))
if not layout or not same_layout(elements, layout) then
  return layout_error(offered)
end
return #elements == 0 and { now_ms(), -1 } or values_reply(now_ms(), elements)
