-- Remembers under the session what its call answered, a text or a list of texts and whole numbers, as
-- done.lua does for dueq's own queues.
local function noted(calls, reply)
  redis.pcall('HSET', calls, ARGV[1], ARGV[2] .. ' ' .. cmsgpack.pack(reply))
  if ARGV[3] == '1' or ARGV[3] == '3' then
    redis.pcall('EXPIRE', calls, 7200)
  end
  return reply
end
