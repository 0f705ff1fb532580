-- push_later: stores messages that are all due at one time. The core made their ids, so no message
-- can have them yet.
-- keys msg ready delayed wake meta reply
-- includes return_problem wake note_score keep_reply_inline
-- args due ('+ms' from now, '@ms' since 1970), then id, envelope of each
-- Returns a digit for each: 0 stored.
local argv, time, length = ARGV, redis.call('TIME'), nil
-- `now` has its microseconds; a score is cut to whole milliseconds. '+ms' is a number, '@ms' is
-- none.
local now, after = time[1] * 1000 + time[2] / 1000, tonumber(argv[4])
local at = after and now + after or tonumber(string.sub(argv[4], 2))
local n, number, score = (#argv - 4) / 2, '1', at > now and string.format('%d', at)
-- Tickets come first: a reserve drops a ticket without a message.
if n == 1 and score then
  length = redis.pcall('ZADD', delayed, score, argv[5])
elseif n == 1 then
  length = redis.pcall('RPUSH', ready, argv[5])
else
  local tickets = {}
  for i = 1, n do
    if score then
      tickets[2 * i - 1], tickets[2 * i] = score, argv[2 * i + 3]
    else
      tickets[i] = argv[2 * i + 3]
    end
  end
  length = redis.pcall(score and 'ZADD' or 'RPUSH', score and delayed or ready, unpack(tickets))
  number = string.format('%d', n)
end
if length ~= n then
  local problem = type(length) == 'table' and length
  -- include return_problem
end
redis.call('HSET', msg, unpack(argv, 5))
if score then
  -- include note_score
else
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
