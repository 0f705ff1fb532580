-- defines check_working check_parked check_begun
-- needs attempts begun dead holds leased limits meta msg outbox parked rated timers turns working
-- includes attempts check_findings check_verdict at_work deferred_removals group_in decimal ticket
-- includes wake
-- What check looks at where a queue has limits of groups (lib/group_limits.lua).

-- Counts the leased tickets of each group, which takes a time in proportion to these.
local function check_working()
  local counts, names, at = {}, {}, 0
  local noted = read_list('HGETALL', working)
  local is_limited = read_list('HMGET', meta, 'limited')[1] == '2'
  local tickets = { nil }
  while is_limited and (at == 0 or #tickets == 1000) do
    tickets = read_list('ZRANGE', leased, at, at + 999)
    for _, ticket in ipairs(tickets) do
      local name = group_in(ticket)
      if name then
        counts[name] = (counts[name] or 0) + 1
      end
    end
    at = at + 1000
  end
  for i = 1, #noted, 2 do
    local name = noted[i]
    if not counts[name] then
      report_removal('group', 'HDEL', working, name)
    elseif decimal(counts[name]) == noted[i + 1] then
      counts[name] = nil
    end
  end
  for name in pairs(counts) do
    names[#names + 1] = name
  end
  local too_long = read_list('ZRANGE', holds, '(4102444800000', '+inf', 'BYSCORE', 'LIMIT', 0, 1000)
  for _, name in ipairs(too_long) do
    report_removal('group', 'ZREM', holds, name)
  end
  table.sort(names)
  for _, name in ipairs(names) do
    report('group', name)
    if repairs then
      redis.call('HSET', working, name, decimal(counts[name]))
    end
  end
end

-- The order of a group.
local function order_of(name)
  local set = read_list('HMGET', limits, 'g.order:' .. name, 'each.order')
  return set[1] or set[2]
end

-- The first message of a group that was begun in the order strict and has not ended: its member of
-- `begun`, its ticket, and the set that has the ticket; nil: there is none.
local function holder_of(name)
  local members = read_list('ZRANGE', begun, '[' .. name .. '\t', '(' .. name .. '\n', 'BYLEX',
    'LIMIT', '0', '1000')
  for _, member in ipairs(order_of(name) == 'strict' and members or {}) do
    local own, id = string.match(member, '\t(!?%w*):(.+)$')
    local had = attempts_read(id and field(attempts, id))
    if had.suffix and had.suffix == own .. '=' .. name and field(msg, id) then
      local ticket = ticket_write(had.deliveries, id, had.suffix)
      local place = place_of(ticket)
      if place ~= dead and place ~= outbox then
        return member, ticket, place
      end
    end
  end
end

-- A group in `parked` waits for a time, for an end of one of its messages, or, in the order strict,
-- for a message that was begun. The time is not later than its hold and its rate say. The begun
-- message is not in the line: else it would be the first one, and the group would be in `turns`. A
-- repair brings a group that waits for nothing, or too long, back to `turns`.
local function check_parked(name, time, in_line)
  local function score(set)
    return tonumber(read_list('ZMSCORE', set, name)[1] or '')
  end
  local waits, held_until = score(timers), score(holds) or 0
  local latest = math.max(now, held_until <= 4102444800000 and held_until or 0,
    math.ceil((score(rated) or 0) / 1000))
  local is_late = waits and waits > latest
  if not is_late and (waits or at_work(read_list('HMGET', working, name)[1]) > 0) then
    return
  end
  local member, ticket, place = holder_of(name)
  local waits_in_line = member and not place and in_line(ticket)
  if is_late or not member or waits_in_line then
    report_removal('group', 'ZREM', parked, name)
    if repairs then
      defer_removal('ZREM', timers, name)
      if waits_in_line then
        defer_removal('ZREM', begun, member)
      end
      redis.call('ZADD', turns, 'NX', time, name)
      wake_one()
    end
  end
end

-- A member of `begun` is of a group in the order strict.
local function check_begun(member)
  local name = string.match(member, '^([^\t]+)\t!?%w*:.')
  if not name or order_of(name) ~= 'strict' then
    report_removal('group', 'ZREM', begun, member)
  end
end
