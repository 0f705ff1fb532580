-- groups: lists the groups of a queue, a page at a time. Changes nothing.
-- keys msg ready leased meta groups lines turns parked timers holds limits begun attempts dead
-- keys outbox served_even served_odd
-- includes decimal now ticket group_mark first_in_line set_page refuse_layout begun
-- includes served_at
-- args alone: cursor ('': the first page), how many at most
-- Returns { now ms, cursor of the next page ('': none), then for each group: its name as in
--   tickets, how many tickets wait, the first of them that has a message ('': none), how many of
--   its messages are leased (-1: not known, as more than 1,000 of the queue are), how many were
--   delivered in the last minute (-1: not known, as the queue has not had limits of groups for a
--   minute, or over 10,000 groups had deliveries), what keeps them waiting ('concurrency', 'order',
--   'rate', 'hold', or '': nothing), until when it is held in ms (0: it is not), and, if they wait
--   because of the order, the id of the message that must end before ('': not known) }.
--   First come the groups that are in `turns`, in the order of their next turns; then those that
--   are at a limit, in the order of their virtual times; behind them those that have only leased
--   messages, or tickets among the first 500 of `ready`, which no script has sorted yet. A group of
--   which nothing waits and nothing is leased is left out. A cursor is one of lib/set_page.lua, for
--   groups at a limit behind "parked "; or "behind" and a place among the last groups.

-- include refuse_layout
local cursor, most = ARGV[1], tonumber(ARGV[2])
local now = now_ms()
local state = redis.call('HMGET', meta, 'turns', 'returned', 'limited', 'served_from')
local answer = { decimal(now), '' }
if not state[1] then
  return answer
end

-- By group: how many of its messages have tickets in `ready`, and are leased; its first ticket in
-- `ready`, among those that go to the front of its line, and among the others; and the id of a
-- leased message.
local arrived, leases, front, behind, at_work, names = {}, {}, {}, {}, {}, {}
local function add(counts, name)
  if not arrived[name] and not leases[name] then
    names[#names + 1] = name
  end
  counts[name] = (counts[name] or 0) + 1
end
local returned = tonumber(string.match(state[2] or '', '^%d+$') or 0)
for i, ticket in ipairs(redis.call('LRANGE', ready, 0, 499)) do
  local _, id, suffix = ticket_read(ticket)
  if id and redis.call('HEXISTS', msg, id) == 1 then
    local name, first = group_of(suffix), i <= returned and front or behind
    add(arrived, name)
    first[name] = first[name] or ticket
  end
end
local knows_leases = redis.call('ZCARD', leased) <= 1000
for _, ticket in ipairs(knows_leases and redis.call('ZRANGE', leased, 0, -1) or {}) do
  local _, id, suffix = ticket_read(ticket)
  if id then
    add(leases, group_of(suffix))
    at_work[group_of(suffix)] = id
  end
end

-- The id of the message that must end before the next of its group begins; '': not known.
local function holder_of(name, order)
  for _, member in ipairs(order == 'strict' and begun_page(name, 0, 10) or {}) do
    local own, id = string.match(member, '\t(!?%w*):(.+)$')
    local first = id and '0.' .. own .. '=' .. name .. ':' .. id
    if id and (begun_ticket(member) or redis.call('ZSCORE', leased, first)) then
      return id
    end
  end
  return at_work[name] or ''
end

-- What keeps the messages of a group waiting, until when the group is held, and which message must
-- end before.
local is_limited = state[3] == '2'
local function limit_of(name)
  if not is_limited then
    return '', 0, ''
  end
  local held_until = tonumber(redis.call('ZSCORE', holds, name) or '') or 0
  if held_until > now and held_until <= 4102444800000 then
    return 'hold', held_until, ''
  elseif not redis.call('ZSCORE', parked, name) then
    return '', 0, ''
  elseif redis.call('ZSCORE', timers, name) then
    return 'rate', 0, ''
  end
  local set = redis.call('HMGET', limits, 'g.order:' .. name, 'each.order')
  local order = set[1] or set[2]
  if order == 'fifo' or order == 'strict' then
    return 'order', 0, holder_of(name, order)
  end
  return 'concurrency', 0, ''
end

-- How many messages of a group were delivered in the last minute: those of this minute of the
-- server's clock, and of the minute before the part that still counts, as if they had come evenly.
local knows_served = is_limited and (tonumber(state[4] or '') or 0) <= now - 60000
local function served_of(name)
  -- nil: not known.
  local function count_in(counts)
    local count = redis.pcall('HGET', counts, name)
    if count == false then
      return redis.call('HLEN', counts) < 10000 and 0 or nil
    end
    return tonumber(string.match(tostring(count), '^%d+$') or '')
  end
  local count = knows_served and count_in(served_at(now))
  local before = count and count_in(served_at(now - 60000))
  return before and decimal(math.floor(count + before * (1 - now % 60000 / 60000) + 0.5)) or '-1'
end

local function show(name, mark)
  local line = mark_read(mark or '', name)
  local waiting, first = arrived[name] or 0, nil
  if line then
    waiting = waiting + line.waiting
    first = first_in_line(line)
  end
  if waiting > 0 or leases[name] then
    local at_limit, held_until, holder = limit_of(name)
    for _, word in ipairs({
      name, decimal(waiting), front[name] or first or behind[name] or '',
      knows_leases and decimal(leases[name] or 0) or '-1', served_of(name), at_limit,
      decimal(held_until), holder,
    }) do
      answer[#answer + 1] = word
    end
  end
end

local place, room = tonumber(string.match(cursor, '^behind (%d+)$')), most
local function show_set(set, from)
  local found, following = set_page(set, from, room)
  local members = {}
  for i = 1, #found, 2 do
    members[#members + 1] = found[i]
  end
  local marks = #members > 0 and redis.call('HMGET', groups, unpack(members)) or {}
  for i, name in ipairs(members) do
    show(name, marks[i])
  end
  room = room - #members
  return following
end
local at = not place and string.match(cursor, '^parked (.*)$')
if not place and not at then
  answer[2] = show_set(turns, cursor)
  at = answer[2] == '' and ''
end
if at and room == 0 then
  answer[2] = 'parked '
elseif at then
  local following = show_set(parked, at)
  answer[2] = following == '' and '' or 'parked ' .. following
end
if answer[2] == '' then
  local scores, times = {}, {}
  if #names > 0 then
    scores, times = redis.call('ZMSCORE', turns, unpack(names)),
      redis.call('ZMSCORE', parked, unpack(names))
  end
  for i = (place or 0) + 1, #names do
    local is_behind = not scores[i] and not times[i]
    if is_behind and room == 0 then
      answer[2] = string.format('behind %d', i - 1)
      break
    elseif is_behind then
      show(names[i])
      room = room - 1
    end
  end
end
return answer
