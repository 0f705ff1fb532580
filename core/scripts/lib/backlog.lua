-- defines BACKLOG backlog_holds backlog_refuses; needs groups ready
-- includes group_mark group_of_ticket ticket
-- The backlogs of groups: how many of its messages may wait. Their line tells how many wait, and
-- `ready` tells of tickets that are not in their line yet: of its first 1,000. A cancelled message
-- counts until its turn comes. limit.lua keeps the backlogs beside the marks of the groups, where
-- a producer may read: the field '\t' has that of each group (0: none), '\t' and a group's name
-- that of one. Without the field '\t' no group has a backlog.

-- The digit of a message that is refused: the client makes the status BACKLOG of it.
local BACKLOG = '9'

-- Whether groups have a backlog.
local function backlog_holds()
  return type(redis.pcall('HGET', groups, '\t')) == 'string'
end

-- Counts, for each group in `counts`, its tickets in `ready`.
local function count_arrivals(counts)
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
end

-- Returns, by the name of the group, the backlogs of these groups, and how many of their messages
-- wait. A backlog that is no number counts as none.
local function backlog_read(names)
  local fields, most, counts, number = { '\t' }, {}, {}, #names
  for i = 1, number do
    fields[i + 1], fields[number + i + 1] = '\t' .. names[i], names[i]
  end
  local found = redis.pcall('HMGET', groups, unpack(fields))
  if not found[1] then
    return most
  end
  for i = 1, number do
    local name, text, mark = names[i], found[i + 1] or found[1], found[number + i + 1]
    if string.find(text, '^[1-9]%d*$') then
      local line = mark and mark_read(mark, name)
      most[name], counts[name] = tonumber(text), line and line.waiting or 0
    end
  end
  count_arrivals(counts)
  return most, counts
end

-- Which drafts of a push are refused. groups_of: the group of each draft ('': none);
-- is_new(n, refused): nil if draft n would not be stored as a new message, else whether it is due
-- now; refused: those before it that are refused.
-- Returns nil: none; or a table that has the numbers of those that are refused.
local function backlog_refuses(groups_of, is_new)
  local names, seen, refused = {}, { [''] = true }, nil
  for _, name in ipairs(groups_of) do
    if not seen[name] then
      seen[name], names[#names + 1] = true, name
    end
  end
  local most, counts = {}, nil
  if #names > 0 then
    most, counts = backlog_read(names)
  end
  for n, name in ipairs(next(most) and groups_of or {}) do
    local is_due = is_new(n, refused or {})
    if most[name] and is_due ~= nil and counts[name] >= most[name] then
      refused = refused or {}
      refused[n] = true
    elseif most[name] and is_due then
      counts[name] = counts[name] + 1
    end
  end
  return refused
end
