-- Keeps what this call answered, a text or a list of texts and whole numbers, as done.lua does for dueq's own
-- queues.
local function noted(answer)
  redis.pcall('SET', reply, ARGV[1] .. ' ' .. cmsgpack.pack(answer), 'PX', ARGV[2])
  return answer
end
