-- Keeps what this call answered under the session's own key, so that a call whose answer was lost is recalled
-- and not run twice.
local function done(reply, answer)
  redis.pcall('SET', reply, ARGV[1] .. ' ' .. answer, 'PX', ARGV[2])
  return answer
end
