-- push_own_later: stores a message that is due at a time. Its id is the caller's own.
-- keys msg ready delayed wake meta reply unique
-- includes refuse_layout return_problem wake note_score keep_unique keep_reply_inline
-- args id, envelope, due ('+ms' from now, '@ms' since 1970) and, if the id stays unique for a time,
--   for how many ms
-- Returns a digit: 0 stored, 2 a message has this id, or the id is still unique.
local id, envelope, due, window, answer = ARGV[4], ARGV[5], ARGV[6], ARGV[7], '2'
local time, has_unique = redis.call('TIME'), redis.call('ZCARD', unique) > 0
local ends = has_unique and redis.call('ZMSCORE', unique, id)[1]
-- As in push_later.lua.
local now, after = time[1] * 1000 + time[2] / 1000, tonumber(due)
local at = after and now + after or tonumber(string.sub(due, 2))
local score = at > now and string.format('%d', at)
if ends and tonumber(ends) > now then
  -- include refuse_layout
else
  -- The ticket comes first: a reserve drops a ticket without a message.
  local ticket = '0.' .. string.sub(envelope, 5, 14) .. ':' .. id
  local added = score and redis.pcall('ZADD', delayed, score, ticket)
    or not score and redis.pcall('RPUSH', ready, ticket)
  local stored = type(added) == 'number' and redis.pcall('HSETNX', msg, id, envelope)
  if stored == 1 then
    answer = '0'
    if score then
      -- include note_score
    elseif added == 1 then
      -- include wake
      wake_one()
    end
    redis.pcall('HINCRBY', meta, 'pushed', '1')
  else
    local problem = type(added) == 'table' and added or type(stored) == 'table' and stored
    if stored and score then
      -- A producer may have no right to ZREM.
      local rank = redis.call('ZRANK', delayed, ticket)
      redis.call('ZREMRANGEBYRANK', delayed, rank, rank)
    elseif stored then
      redis.call('LTRIM', ready, '0', '-2')
    end
    -- include return_problem
  end
end
-- include keep_unique
-- include keep_reply_inline
return answer
