-- Keeps what this call answered, a text or a list of texts and whole numbers, as keep_reply.lua does for dueq's own
-- queues.
local function keep_foreign_reply(answer)
  redis.pcall('SET', reply, ARGV[1] .. ' ' .. cmsgpack.pack(answer), 'PX', ARGV[2])
  return answer
end
