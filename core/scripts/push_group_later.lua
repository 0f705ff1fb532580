-- push_group_later: stores messages that are due later, of which at least one has a group. If one
-- is due now, has other options, or has an id of its own and is not alone or not new; if tickets
-- wait in `ready`, which must be sorted, groups have a backlog, or no message with a group came
-- before, it changes nothing and answers nil.
-- keys msg ready delayed wake meta reply unique groups
-- includes return_problem envelope_suffix note_sooner keep_reply_inline
-- args as push_full
-- passes on to push_group_full
-- Returns a digit for each: 0 stored; or nil.
local argv, format, state = ARGV, string.format, redis.pcall('HMGET', meta, 'turns', 'next_event')
-- A field of this name tells that groups have a backlog (limit.lua).
if not state[1] or redis.pcall('HEXISTS', groups, '\t') ~= 0 or redis.pcall('LLEN', ready) ~= 0 then
  return nil
end
-- As in push_later.lua.
local n, time, tickets, messages = (#argv - 3) / 4, redis.call('TIME'), { nil, nil }, { nil, nil }
local now, first = time[1] * 1000 + time[2] / 1000, nil
for i = 1, n do
  local id, envelope, due = argv[4 * i], argv[4 * i + 1], argv[4 * i + 2]
  local suffix, after = envelope_suffix(envelope), tonumber(due)
  local at = after and now + after or tonumber(string.sub(due, 2))
  local has_own_id = string.byte(envelope, 2) % 2 == 1
  if at <= now or argv[4 * i + 3] ~= '' or has_own_id
    and (n > 1 or redis.call('HEXISTS', msg, id) + redis.call('EXISTS', unique) > 0) then
    return nil
  end
  if not first or at < first then
    first = at
  end
  tickets[2 * i - 1] = format('%d', at)
  tickets[2 * i] = suffix and '0.' .. suffix .. ':' .. id or id
  messages[2 * i - 1], messages[2 * i] = id, envelope
end
-- Tickets come first: a reserve drops a ticket without a message.
local added = redis.pcall('ZADD', delayed, unpack(tickets))
if added ~= n then
  local problem = type(added) == 'table' and added
  -- include return_problem
end
redis.call('HSET', msg, unpack(messages))
local at, score, noted = first, format('%d', first), state[2]
-- include note_sooner
redis.pcall('HINCRBY', meta, 'pushed', format('%d', n))
local answer = string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
