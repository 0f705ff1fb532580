-- poll: takes waiting values, in the order in which they were offered.
-- keys offered timeout reply
-- includes now layout_found keep_foreign_reply values_reply
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), how many at most
-- Returns as lib/values_reply.lua, or { now ms, -1 }: no value waits.

local now, most = now_ms(), tonumber(ARGV[5])
local elements = redis.call('LRANGE', offered, 0, most - 1)
local layout = layout_found(offered, timeout, tonumber(ARGV[4]))
if not layout or not same_layout(elements, layout) then
  return layout_error(offered)
end
if #elements == 0 then
  return { now, -1 }
end
redis.call('LTRIM', offered, #elements, -1)
redis.call('ZREM', timeout, unpack(elements))
return keep_foreign_reply(values_reply(now, elements))
