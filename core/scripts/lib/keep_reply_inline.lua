-- needs answer reply
-- Keeps `answer` under the session's own key: if the client loses the reply, it recalls it, and
-- does not run the call twice. The session's first call of a minute sets the key's end, which is
-- later than any recall.
local kept = ARGV[1] .. ' ' .. answer
if ARGV[3] == '1' or not redis.pcall('SET', reply, kept, 'XX', 'KEEPTTL') then
  redis.pcall('SET', reply, kept, 'PX', ARGV[2])
end
