-- defines keep_foreign_reply; needs reply
-- Keeps the call's answer for recall_foreign.lua, and returns it: a text, or a list of texts and
-- whole numbers. (keep_reply.lua does the same for dueq's own queues.)
local function keep_foreign_reply(answer)
  redis.pcall('SET', reply, ARGV[1] .. ' ' .. cmsgpack.pack(answer), 'PX', ARGV[2])
  return answer
end
