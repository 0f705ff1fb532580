-- take: takes values from the destination, the parked ones first.
-- keys destination parked reply
-- includes now keep_foreign_reply
-- ARGV    number, keep, minute, how many at most, the number of the session's first take since the
--         last answer that was read (0: all answers were read): what was taken since goes back
--         first
-- Returns { now ms, -1 }, and with values: a '0' for each, the values.

local now, most = now_ms(), tonumber(ARGV[4])
redis.call('LLEN', destination)
redis.call('LLEN', parked)
if ARGV[5] ~= '0' then
  local number, answer = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
  local unread = number and tonumber(number) >= tonumber(ARGV[5]) and cmsgpack.unpack(answer) or {}
  for i = #unread, 4, -1 do
    redis.call('LPUSH', destination, unread[i])
  end
  if #unread > 0 then
    redis.call('DEL', reply)
  end
end
local values = most > 0 and redis.call('LPOP', parked, most) or {}
if #values < most then
  for _, value in ipairs(redis.call('LPOP', destination, most - #values) or {}) do
    values[#values + 1] = value
  end
end
if #values == 0 then
  return { now, -1 }
end
return keep_foreign_reply({ now, -1, string.rep('0', #values), unpack(values) })
