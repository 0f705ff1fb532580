-- defines check_working check_parked; needs holds leased meta parked rated timers turns working
-- includes check_findings check_verdict at_work group_in decimal deferred_removals wake
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
  local longest = read_list('ZRANGE', holds, -1000, -1, 'WITHSCORES')
  for i = 1, #longest, 2 do
    if tonumber(longest[i + 1]) > 4102444800000 then
      report_removal('group', 'ZREM', holds, longest[i])
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    report('group', name)
    if repairs then
      redis.call('HSET', working, name, decimal(counts[name]))
    end
  end
end

-- A group in `parked` waits for a time, or for an end of one of its messages. The time is not later
-- than its hold and its rate say. If none is leased, or the time is later, a repair brings the
-- group back to `turns`.
local function check_parked(name, time)
  local function score(set)
    return tonumber(read_list('ZMSCORE', set, name)[1] or '')
  end
  local waits, held_until = score(timers), score(holds) or 0
  local latest = math.max(now, held_until <= 4102444800000 and held_until or 0,
    math.ceil((score(rated) or 0) / 1000))
  local is_late = waits and waits > latest
  if is_late or not waits and at_work(read_list('HMGET', working, name)[1]) == 0 then
    report_removal('group', 'ZREM', parked, name)
    if repairs then
      defer_removal('ZREM', timers, name)
      redis.call('ZADD', turns, 'NX', time, name)
      wake_one()
    end
  end
end
