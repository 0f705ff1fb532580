-- push_group_sort: as push_group, where tickets wait in `ready`, or groups have a backlog.
-- keys msg ready groups lines turns wake meta reply
-- includes envelope_suffix wake return_problem backlog group_mark help_sort keep_reply_inline
-- args as push_group
-- Returns a digit for each: 0 stored, 9 its group is at its backlog.
local tickets, words, names, n = {}, {}, {}, (#ARGV - 3) / 2
for i = 1, n do
  names[i] = group_of(envelope_suffix(ARGV[2 * i + 3]))
end
local refused, answer = backlog_refuses(names, function() return true end), {}
for i = 1, n do
  local id, suffix = ARGV[2 * i + 2], envelope_suffix(ARGV[2 * i + 3])
  if refused and refused[i] then
    answer[i] = BACKLOG
  else
    answer[i], tickets[#tickets + 1] = DUEQ_OK, suffix and '0.' .. suffix .. ':' .. id or id
    words[#words + 1], words[#words + 2] = id, ARGV[2 * i + 3]
  end
end
answer = table.concat(answer)
if #tickets > 0 then
  -- From now on reserve_groups serves the queue, and the fast reserve passes calls on.
  if redis.call('HSETNX', meta, 'turns', '0 0') == 1 then
    redis.call('HSET', meta, 'has_priorities', '1')
  end
  -- Tickets come first: a reserve drops a ticket without a message.
  local length = redis.pcall('RPUSH', ready, unpack(tickets))
  if type(length) == 'table' then
    local problem = length
    -- include return_problem
  end
  redis.call('HSET', msg, unpack(words))
  if length == #tickets then
    wake_one(#tickets > 1)
  end
  redis.pcall('HINCRBY', meta, 'pushed', string.format('%d', #tickets))
  help_sort(n, backlog_holds())
end
-- include keep_reply_inline
return answer
