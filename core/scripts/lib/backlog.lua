-- defines BACKLOG backlog_holds backlog_refuses; needs groups limits ready
-- includes group_mark group_of_ticket ticket
-- The backlogs of groups: how many of its messages may wait. Their line tells how many wait, and
-- `ready` tells of tickets that are not in their line yet: of its first 1,000. A cancelled message
-- counts until its turn comes.

-- The digit of a message that is refused: the client makes the status BACKLOG of it.
local BACKLOG = '9'

-- Whether groups have a backlog. limit.lua notes that beside the marks of the groups, where a push
-- reads it for little.
local function backlog_holds()
  return redis.pcall('HGET', groups, '\t') == '1'
end

-- The backlog of each of these groups, and the groups that have one. A text that is none counts as
-- no limit.
local function backlog_limits(names)
  local fields, most, limited = { 'each.backlog' }, {}, {}
  for i = 1, #names do
    fields[i + 1] = 'g.backlog:' .. names[i]
  end
  local found = redis.pcall('HMGET', limits, unpack(fields))
  for i = 1, found.err and 0 or #names do
    local text = found[i + 1] or found[1] or ''
    if string.find(text, '^[1-9]%d*$') then
      most[names[i]], limited[#limited + 1] = tonumber(text), names[i]
    end
  end
  return most, limited
end

-- How many messages of each of these groups wait.
local function backlog_counts(names)
  local counts = {}
  local marks = redis.call('HMGET', groups, unpack(names))
  for i, name in ipairs(names) do
    local line = marks[i] and mark_read(marks[i], name)
    counts[name] = line and line.waiting or 0
  end
  for _, ticket in ipairs(redis.call('LRANGE', ready, 0, 999)) do
    local name = group_of_ticket(ticket)
    if not name then
      local deliveries, _, suffix = ticket_read(ticket)
      name = deliveries and group_of(suffix)
    end
    if name and counts[name] then
      counts[name] = counts[name] + 1
    end
  end
  return counts
end

-- Which drafts of a push are refused. groups_of: the group of each draft ('': none); is_new(n): nil
-- if draft n would not be stored as a new message, else whether it is due now.
-- Returns nil: none; or a table that has the numbers of those that are refused.
local function backlog_refuses(groups_of, is_new)
  local names, seen, refused, most, limited = {}, { [''] = true }, nil, nil, {}
  for _, name in ipairs(groups_of) do
    if not seen[name] then
      seen[name], names[#names + 1] = true, name
    end
  end
  if #names > 0 and backlog_holds() then
    most, limited = backlog_limits(names)
  end
  local counts = #limited > 0 and backlog_counts(limited)
  for n, name in ipairs(counts and groups_of or {}) do
    local is_due = nil
    if most[name] then
      is_due = is_new(n)
    end
    if is_due ~= nil and counts[name] >= most[name] then
      refused = refused or {}
      refused[n] = true
    elseif is_due then
      counts[name] = counts[name] + 1
    end
  end
  return refused
end
