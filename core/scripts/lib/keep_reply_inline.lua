-- needs answer reply
-- Keeps `answer` under the session's own key, so that a call whose answer was lost is recalled and
-- not run twice. The
-- key's end is set with the session's first call of a minute; it is later than anybody asks.
local kept = ARGV[1] .. ' ' .. answer
if ARGV[3] == '1' or not redis.pcall('SET', reply, kept, 'XX', 'KEEPTTL') then
  redis.pcall('SET', reply, kept, 'PX', ARGV[2])
end
