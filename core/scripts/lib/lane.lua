-- defines lane_of lane_push; needs high low meta ready; includes count
-- The name of a ticket's lane: 'high', 'low' or (usually) 'ready'.
local function lane_of(ticket)
  local suffix = string.match(ticket, '^%d+%.!?(%w+):')
  if suffix and (#suffix == 1 or #suffix == 11) then
    return string.byte(suffix, -1) == 104 and 'high' or 'low'
  end
  return 'ready'
end

-- Puts tickets at the ends of their lanes, or, if `front`, at the fronts, the last ticket foremost.
-- Returns whether a lane was empty. If one key has another type, no lane gets a ticket.
local function lane_push(tickets, front)
  local lanes, was_empty = { high = {}, ready = {}, low = {} }, false
  for _, ticket in ipairs(tickets) do
    table.insert(lanes[lane_of(ticket)], ticket)
  end
  local keys = { high = high, ready = ready, low = low }
  if #lanes.ready < #tickets then
    for name, key in pairs(keys) do
      if #lanes[name] > 0 then
        redis.call('LLEN', key)
      end
    end
    redis.call('HSET', meta, 'has_priorities', '1')
  end
  for name, key in pairs(keys) do
    local lane = lanes[name]
    if #lane > 0 then
      local length = front and redis.call('LPUSH', key, unpack(lane))
        or redis.call('RPUSH', key, unpack(lane))
      was_empty = length == #lane or was_empty
    end
  end
  if front then
    count('ready_offset', -#lanes.ready)
  end
  return was_empty
end
