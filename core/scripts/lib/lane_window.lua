-- defines read_window remove_from_lane; needs meta ready; includes check_verdict
-- The window of a lane or set in front of so many tickets of its tail, and the place before its
-- first ticket, counted from the tail.
local function read_window(key, place, count, is_set)
  local tickets = read_list(is_set and 'ZRANGE' or 'LRANGE', key, -place - count, -place - 1)
  return tickets, -place - #tickets - 1
end
-- Removes the entries at these places of a lane, which count from the tail (-1).
local function remove_from_lane(key, places)
  -- Tickets at the front of `ready` that were released: release.lua.
  local returned = key == ready and tonumber(field(meta, 'returned') or '') or 0
  if returned > 0 and #places > 0 then
    local length, left = redis.call('LLEN', key), returned
    for _, place in ipairs(places) do
      left = left - (length + place < returned and 1 or 0)
    end
    redis.call('HSET', meta, 'returned', string.format('%d', left))
  end
  for _, place in ipairs(places) do
    redis.call('LSET', key, place, '-')
  end
  local from_tail = #places > 0 and -2 * places[1] < redis.call('LLEN', key)
  if #places > 0 then
    redis.call('LREM', key, from_tail and -#places or #places, '-')
  end
end
