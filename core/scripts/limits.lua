-- limits: the limits of the queue and of its groups.
-- keys msg limits meta
-- includes refuse_layout limits
-- Returns { concurrency, rate, burst, and of each group concurrency, rate, burst, backlog, order },
--   each as it was set, or '': there is no limit; behind them, of each group that has limits of its
--   own, in the order of their names: its name, concurrency, rate, burst, backlog, weight and
--   order; or an error: CORRUPT.

-- include refuse_layout
local limit, problem = limits_read()
if not limit then
  return problem
end
local found, set, names, own = redis.call('HGETALL', limits), {}, {}, {}
for i = 1, #found, 2 do
  local field, value = found[i], found[i + 1]
  local kind, name = string.match(field, '^g%.(%l+):(.*)$')
  local of_groups = kind or string.match(field, '^each%.(%l+)$')
  local number = string.match(value, of_groups == 'rate' and '^([1-9]%d*)/[smh]$' or '^[1-9]%d*$')
  local is_sound = number and #number <= 7 and tonumber(number) <= 1000000
  if of_groups == 'order' then
    is_sound = value == 'fair' or value == 'fifo' or value == 'strict'
  end
  if of_groups and not is_sound then
    return redis.error_reply(string.format('CORRUPT the limits of the queue cannot be read: '
      .. "%s has its %s damaged. 'dueq limit QUEUE' sets them anew", limits, of_groups))
  elseif kind and not own[name] then
    names[#names + 1], own[name] = name, {}
  end
  if kind then
    own[name][kind] = value
  end
  set[field] = value
end
local answer = {}
local function add(from, ...)
  for _, field in ipairs({ ... }) do
    answer[#answer + 1] = from[field] or ''
  end
end
add(set, 'concurrency', 'rate', 'burst')
-- The order fair is that of groups of which nothing is said.
set['each.order'] = set['each.order'] ~= 'fair' and set['each.order'] or nil
add(set, 'each.concurrency', 'each.rate', 'each.burst', 'each.backlog', 'each.order')
table.sort(names)
for _, name in ipairs(names) do
  answer[#answer + 1] = name
  add(own[name], 'concurrency', 'rate', 'burst', 'backlog', 'weight', 'order')
end
return answer
