-- Remembers under the session what its call answered, so that a call whose answer was lost is recalled
-- and not run twice. The hash is one hour's; `fresh` is odd at a session's first call in it.
local function done(calls, session, number, fresh, answer)
  redis.pcall('HSET', calls, session, number .. ' ' .. answer)
  if fresh == '1' or fresh == '3' then
    redis.pcall('EXPIRE', calls, 7200)
  end
  return answer
end
