-- offer: stores values that are due later, and publishes the earliest due time if it changes.
-- keys offered timeout channel reply
-- includes layout_found now next_due due_time decimal keep_foreign_reply
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), and for each value: 8 random
--         bytes, its due time ('0', '+ms', '@ms'), the value
-- Returns a '0' for each value.

local layout = layout_found(offered, timeout, tonumber(ARGV[4]))
if not layout then
  return layout_error(offered)
end
local now, head = now_ms(), next_due(timeout)
local elements, times, first = {}, {}, nil
for i = 5, #ARGV, 3 do
  local id, word, value = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local due, element = word == '0' and now or due_time(word, now), nil
  if layout == 2 then
    -- Redisson's own id is a random integer of 64 bits, as a double.
    element = struct.pack('dLc0', struct.unpack('l', id), #value, value)
  else
    element = struct.pack('Bc0Lc0', #id, id, #value, value)
  end
  elements[#elements + 1] = element
  times[#times + 1], times[#times + 2] = decimal(due), element
  first = math.min(first or due, due)
end
-- PUBLISH comes first: if the user may not use it, nothing is stored. A subscriber cannot look
-- before the script has stored the values.
if not head or first < head then
  redis.call('PUBLISH', channel, decimal(first))
end
redis.call('ZADD', timeout, unpack(times))
redis.call('RPUSH', offered, unpack(elements))
return keep_foreign_reply(string.rep('0', #elements))
