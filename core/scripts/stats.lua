-- stats: counts the queue in O(1). Changes nothing.
-- keys msg ready high low delayed leased dead outbox meta groups lines turns parked rates limits
-- keys ends kept
-- includes decimal ticket group_mark first_in_line refuse_layout limits
-- Returns { now ms, ready, delayed, leased, dead, outbox, pushed, reserved, acked, retried,
--   expired, died, cancelled, purged, quarantined, kept ends and their bytes, next due time or end
--   of a lease (0: none), 1 if it is paused, mark, first ticket of ready, of high, of low ('':
--   none), why the outbox is stuck ('': it is not), at which limit ready messages wait
--   ('concurrency', 'rate', 'unreadable', or ''), then the first tickets of the lines of the ten
--   groups that have the next turns, and of ten that are at a limit }.
-- mark: a time at most a minute before the first ticket came to `ready`, and never after (0: not
-- known, as in a queue with groups). It is the last time noted in `rates` at which no more tickets
-- had come than have left since.

-- include refuse_layout
local sets, first, next_due = {}, math.huge, math.huge
for i, set in ipairs({ delayed, leased, dead, outbox }) do
  sets[i] = redis.call('ZCARD', set)
  if i < 3 then
    local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
    first = math.min(first, tonumber(head[2] or '') or math.huge)
    next_due = i == 1 and first or next_due
  end
end
local all = redis.call('HLEN', msg)
local values = redis.call('HMGET', meta, 'pushed', 'reserved', 'acked', 'retried', 'expired',
  'died', 'cancelled', 'purged', 'quarantined', 'ready_offset', 'paused', 'outbox_error',
  'turns', 'limited')
local counters = {}
for i = 1, 9 do
  counters[i] = decimal(tonumber(values[i] or '') or 0)
end

-- The first ticket of a lane that has a message, among the first ten, and its place.
local function head(lane)
  for place, ticket in ipairs(redis.call('LRANGE', lane, 0, 9)) do
    local _, id = ticket_read(ticket)
    if id and redis.call('HEXISTS', msg, id) == 1 then
      return ticket, place - 1
    end
  end
  return ''
end
local ticket, place = head(ready)
local mark = '0'
if place and not values[13] then
  local came = place + (tonumber(values[2] or '') or 0) + (tonumber(values[10] or '') or 0)
  for _, text in ipairs(redis.call('LRANGE', rates, 0, 359)) do
    local time, before = string.match(text, '^(%d+) (%d+) ')
    if time and tonumber(before) <= came then
      mark = time
      break
    end
  end
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local waiting, at_limit = all - sets[1] - sets[2] - sets[3] - sets[4], ''
if (values[14] == '1' or values[14] == '2') and (waiting > 0 or next_due <= now) then
  local limit = limits_read()
  at_limit = not limit and 'unreadable' or sets[2] >= limit.concurrency and 'concurrency'
    or rate_left(limit, time[1] * 1000000 + time[2]) == 0 and 'rate' or ''
end
local answer = {
  decimal(now), math.max(waiting, 0), sets[1], sets[2],
  sets[3], sets[4], counters[1], counters[2], counters[3], counters[4], counters[5], counters[6],
  counters[7], counters[8], counters[9], redis.call('ZCARD', kept),
  decimal(tonumber(redis.call('HGET', ends, '') or '') or 0),
  decimal(first < math.huge and math.min(first, 4102444800000) or 0), values[11] and 1 or 0,
  mark, ticket, (head(high)), (head(low)), sets[4] > 0 and values[12] or '', at_limit,
}
local function show_lines(set)
  for _, name in ipairs(redis.call('ZRANGE', set, 0, 9)) do
    local line = mark_read(redis.call('HGET', groups, name) or '', name)
    answer[#answer + 1] = line and first_in_line(line)
  end
end
if values[13] then
  show_lines(turns)
end
if values[14] == '2' then
  show_lines(parked)
end
return answer
