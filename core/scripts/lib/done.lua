-- Keeps what this call answered under the session's own key, so that a call whose answer was lost is recalled
-- and not run twice. The key's end is set with the session's first call of a minute; it is later than anybody asks.
local function done(answer)
  local text = ARGV[1] .. ' ' .. answer
  if ARGV[3] == '1' or not redis.pcall('SET', reply, text, 'XX', 'KEEPTTL') then
    redis.pcall('SET', reply, text, 'PX', ARGV[2])
  end
  return answer
end
