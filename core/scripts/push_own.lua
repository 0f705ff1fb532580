-- push_own: stores a message that is due now. Its id is the caller's own.
-- keys msg ready wake meta reply unique
-- includes now refuse_layout return_problem wake keep_unique keep_reply_inline
-- args id, envelope, and, if the id stays unique for a time, for how many ms
-- Returns a digit: 0 stored, 2 a message has this id, or the id is still unique.
local id, envelope, window, answer = ARGV[4], ARGV[5], ARGV[6], '2'
local has_unique, now, ends = redis.call('ZCARD', unique) > 0, nil, nil
if has_unique or window then
  now = now_ms()
  ends = has_unique and redis.call('ZMSCORE', unique, id)[1]
end
if ends and tonumber(ends) > now then
  -- include refuse_layout
else
  -- The ticket comes first: a reserve drops a ticket without a message.
  local length = redis.pcall('RPUSH', ready, '0.' .. string.sub(envelope, 5, 14) .. ':' .. id)
  local stored = type(length) == 'number' and redis.pcall('HSETNX', msg, id, envelope)
  if stored == 1 then
    answer = '0'
    if length == 1 then
      -- include wake
      wake_one()
    end
    redis.pcall('HINCRBY', meta, 'pushed', '1')
  else
    local problem = type(length) == 'table' and length or type(stored) == 'table' and stored
    if stored then
      redis.call('LTRIM', ready, '0', '-2')
    end
    -- include return_problem
  end
end
-- include keep_unique
-- include keep_reply_inline
return answer
