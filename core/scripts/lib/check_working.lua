-- defines check_working check_parked; needs leased meta parked timers turns working
-- includes check_findings check_verdict at_work group_in decimal wake
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
  table.sort(names)
  for _, name in ipairs(names) do
    report('group', name)
    if repairs then
      redis.call('HSET', working, name, decimal(counts[name]))
    end
  end
end

-- A group in `parked` waits for a time, or for an end of one of its messages. If none is leased, a
-- repair brings the group back to `turns`.
local function check_parked(name, time)
  local waits = read_list('ZMSCORE', timers, name)[1]
  if not waits and at_work(read_list('HMGET', working, name)[1]) == 0 then
    report_removal('group', 'ZREM', parked, name)
    if repairs then
      redis.call('ZADD', turns, 'NX', time, name)
      wake_one()
    end
  end
end
