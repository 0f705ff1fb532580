-- limit: sets limits of the queue, of each of its groups, or of one group.
-- keys msg limits meta wake groups leased turns working parked timers rated
-- keys holds begun delayed attempts
-- includes bulk now wake noop_write refuse_layout regroup note_begun
-- args alone: the number of partitions, if the queue is one of them, else 1; '1': first removes all
--   limits, or those of the group; the group as tickets have it (''); then of each limit its scope
--   ('': the queue, each: each group, g: the group), its name, and its value ('' or '0': none). An
--   order has the value fair, fifo or strict.
-- Returns a digit: 0 done, or an error: a burst without a rate, or too many groups with limits.

-- include refuse_layout
local partitions, clear, group = ARGV[1], ARGV[2] == '1', ARGV[3]
local found, had, has, fields, gone = redis.pcall('HGETALL', limits), {}, {}, {}, {}
-- The orders of groups, by their fields; and whether this call changes any.
local orders, changes_order = {}, false
local unreadable = found.err and found
for i = 1, unreadable and 0 or #found, 2 do
  had[#had + 1] = found[i]
  if string.find(found[i], '^%l+%.order') then
    orders[found[i]], changes_order = found[i + 1], changes_order or clear
  end
end
local function is_of_group(field)
  return string.find(field, '^g%.%l+:') and string.sub(field, -#group - 1) == ':' .. group
end
for _, field in ipairs(had) do
  has[field] = not clear or group ~= '' and not is_of_group(field) or nil
end

-- What there is to do: limits of the queue, limits of groups, backlogs, groups with limits.
local function summary(names)
  local queue, groups_limited, backlog, number, seen = false, false, false, 0, {}
  for field in pairs(names) do
    local scope, kind = string.match(field, '^(%l+)%.(%l+)')
    local name = scope == 'g' and string.match(field, ':(.*)$')
    queue = queue or field == 'concurrency' or field == 'rate'
    backlog = backlog or kind == 'backlog'
    groups_limited = groups_limited or kind and kind ~= 'backlog' and kind ~= 'burst'
    if name and not seen[name] then
      seen[name], number = true, number + 1
    end
  end
  return queue, groups_limited, backlog, number
end
local names = {}
for _, field in ipairs(had) do
  names[field] = true
end
local was_limited, had_groups, had_backlog = summary(names)
for i = 4, #ARGV, 3 do
  local scope, name, value = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local start, stop = scope == '' and '' or scope .. '.', scope == 'g' and ':' .. group or ''
  local field = start .. name .. stop
  if value == '' or value == '0' then
    has[field] = nil
    if name == 'rate' then
      has[start .. 'burst' .. stop] = nil
    end
  elseif name == 'burst' and not (has[start .. 'rate' .. stop] or scope == 'g' and has['each.rate'])
  then
    return redis.error_reply('INVALID the burst needs a rate, which '
      .. (scope == 'g' and 'the group does not have' or scope == 'each'
        and 'each group does not have'
        or 'the queue does not have; the burst of each group is each_group_burst'))
  else
    has[field], fields[#fields + 1], fields[#fields + 2] = true, field, value
  end
  if name == 'order' then
    orders[field], changes_order = value, true
  end
end
-- A reserve reads the order of one group only where `each.order` is set.
local each_order = has['each.order'] and orders['each.order']
local has_own_order, has_strict = false, false
for field in pairs(has) do
  has_own_order = has_own_order or string.find(field, '^g%.order:')
  has_strict = has_strict or orders[field] == 'strict'
end
if has_own_order and not each_order then
  has['each.order'], fields[#fields + 1], fields[#fields + 2] = true, 'each.order', 'fair'
elseif each_order == 'fair' and not has_own_order then
  has['each.order'] = nil
end
local function is_strict(name)
  local own = 'g.order:' .. name
  return (has[own] and orders[own] or each_order) == 'strict'
end
local queue_limited, groups_limited, backlog, number = summary(has)
if number > 1000 then
  return redis.error_reply('INVALID at most 1000 groups of a queue have limits of their own')
end
-- While groups are held, `limited` stays 2.
local limited = (groups_limited or redis.call('ZCARD', holds) > 0) and '2'
  or queue_limited and '1'
if unreadable and (limited or backlog) then
  return unreadable
end

-- The first reserve looks at all messages, as the time of the next event may be one of a limit.
local noted = { 'next_event', '0' }
-- include noop_write
if limited then
  if not (was_limited or had_groups) then
    fields[#fields + 1], fields[#fields + 2] = 'since', string.format('%d', now_ms())
  end
  noted = { 'next_event', '0', 'limited', limited, 'has_priorities', '1' }
end
if partitions ~= '1' then
  has.partitions, fields[#fields + 1], fields[#fields + 2] = true, 'partitions', partitions
elseif has.partitions then
  has.partitions = nil
end
if limited or backlog then
  bulk('HSET', limits, fields)
end
-- A push has no right to `limits`, and reads backlogs here, beside the groups' marks. No group has
-- such a name.
local copies, gone_copies = {}, {}
for i = 1, #fields, 2 do
  local of_one = string.match(fields[i], '^g%.backlog:(.*)$')
  if of_one or fields[i] == 'each.backlog' then
    copies[#copies + 1], copies[#copies + 2] = '\t' .. (of_one or ''), fields[i + 1]
  end
end
if backlog and not has['each.backlog'] then
  copies[#copies + 1], copies[#copies + 2] = '\t', '0'
end
bulk('HSET', groups, copies)
if changes_order then
  note_begun(has_strict and is_strict)
end
regroup(limited == '2')
redis.call('HSET', meta, unpack(noted))
for _, field in ipairs(had) do
  if not has[field] and field ~= 'next' and field ~= 'since' then
    gone[#gone + 1] = field
    local of_one = string.match(field, '^g%.backlog:(.*)$')
    gone_copies[#gone_copies + 1] = of_one and '\t' .. of_one
  end
end
if limited or backlog then
  bulk('HDEL', limits, gone)
else
  redis.call('UNLINK', limits)
end
if not limited then
  redis.call('HDEL', meta, 'limited', 'held')
end
if not backlog and (had_backlog or unreadable) then
  gone_copies[#gone_copies + 1] = '\t'
end
bulk('HDEL', groups, gone_copies)
wake_one(true)
return DUEQ_OK
