-- push_later: stores messages that are all due at one time. The core made their ids, so no message
-- can have them yet.
-- keys msg ready delayed wake meta reply
-- includes return_problem wake note_event keep_reply_inline
-- args due ('+ms' from now, '@ms' since 1970), then id, envelope of each
-- Returns a digit for each: 0 stored.
local argv, tickets, time, length = ARGV, {}, redis.call('TIME'), nil
local n, number = (#argv - 4) / 2, '1'
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = string.sub(argv[4], 2) + (string.byte(argv[4]) == 43 and now or 0)
if n > 1 then
  number = string.format('%d', n)
end
-- Tickets come first: a reserve drops a ticket without a message.
if at > now then
  local score = string.format('%d', at)
  for i = 1, n do
    tickets[2 * i - 1], tickets[2 * i] = score, argv[2 * i + 3]
  end
  length = redis.pcall('ZADD', delayed, unpack(tickets))
else
  for i = 1, n do
    tickets[i] = argv[2 * i + 3]
  end
  length = redis.pcall('RPUSH', ready, unpack(tickets))
end
if length ~= n then
  local problem = type(length) == 'table' and length
  -- include return_problem
end
redis.call('HSET', msg, unpack(argv, 5))
local first = tonumber(redis.pcall('HGET', meta, 'next_event') or '')
if at <= now then
  -- include wake
  wake_one(n > 1)
elseif not first or first > at then
  -- include note_event
  note_event(at, now)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
