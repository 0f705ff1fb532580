-- push_noted: as push, of messages whose ends are kept.
-- keys msg ready wake meta reply
-- includes put_noted wake keep_reply_inline
-- args as push
-- Returns a digit for each: 0 stored.
local argv, from = ARGV, 4
local n = (#argv - 3) / 2
-- include put_noted
if length == n then
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
