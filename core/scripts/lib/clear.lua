-- defines clear_set clear_hash
-- Empty a key. A worker has no right to UNLINK, so that no script of its own removes the queue.
local function clear_set(set)
  redis.call('ZREMRANGEBYRANK', set, 0, -1)
end

local function clear_hash(hash)
  local names = redis.call('HKEYS', hash)
  for at = 1, #names, 1000 do
    redis.call('HDEL', hash, unpack(names, at, math.min(at + 999, #names)))
  end
end
