-- transfer: moves due elements to the destination, in the order of their due times.
-- keys destination offered timeout quarantine reply
-- includes now layout_found next_due element_layout remove_from_list keep_foreign_reply
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), how many at most
-- Returns { now ms, -1, moved, quarantined, the next due ms (0: none) }, or, when nothing is due,
--         { now ms, us until the next due time (-1: none) }.

local now, past = now_ms()
redis.call('LLEN', destination)
redis.call('LLEN', quarantine)
local due = redis.call('ZRANGEBYSCORE', timeout, '-inf', now, 'LIMIT', 0, ARGV[5])
local layout = layout_found(offered, timeout, tonumber(ARGV[4]))
layout = layout and same_layout(due, layout)
if not layout then
  return layout_error(offered)
end
if #due == 0 then
  local head = next_due(timeout)
  return { now, head and (head - now) * 1000 - past or -1 }
end
local values, corrupt = {}, {}
for _, element in ipairs(due) do
  if layout_of(element) then
    values[#values + 1] = value_of(element, layout)
  else
    corrupt[#corrupt + 1] = element
  end
end
if #values > 0 then
  redis.call('RPUSH', destination, unpack(values))
end
if #corrupt > 0 then
  redis.call('RPUSH', quarantine, unpack(corrupt))
end
redis.call('ZREM', timeout, unpack(due))
remove_from_list(offered, due, reply .. ARGV[1])
return keep_foreign_reply({ now, -1, #values, #corrupt, next_due(timeout) or 0 })
