-- register: a consumer says that it is there, who it is, and what it has leased. After `left` ms
-- without a call it is offline. It is shown for one more hour, and then goes with the next call, or
-- earlier if the room is needed: at most 1000 consumers are registered.
-- keys consumers described meta
-- includes now decimal refuse_newer noop_write
-- args alone: session, left (0: it leaves), description ('': as before), '1' if the queue has
--   partitions
-- Returns 1; 0: there is no room, and no consumer is offline; 2: call again with the description,
--   which the server does not have.

local now, session, left, description = now_ms(), ARGV[1], tonumber(ARGV[2]), ARGV[3]
local time = string.format('%d', now)
if left > 0 and description == '' then
  return redis.call('ZADD', consumers, 'XX', 'CH', time, session) == 1 and 1 or 2
end
-- include refuse_newer
-- include noop_write
local expired = {}
local since = decimal(now - left - 3600000)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', consumers, '-inf', since, 'LIMIT', 0, 100)) do
  if name ~= session then
    expired[#expired + 1] = name
  end
end
if left == 0 then
  expired[#expired + 1] = session
else
  if redis.call('ZCARD', consumers) >= 1000 + #expired
    and not redis.call('ZSCORE', consumers, session) then
    local next_expired = redis.call('ZRANGE', consumers, #expired, #expired, 'WITHSCORES')
    if tonumber(next_expired[2]) > now - left then
      return 0
    end
    expired[#expired + 1] = next_expired[1]
  end
  -- A queue is listed once a consumer waits for it. A queue with partitions is not: each partition
  -- is listed.
  if ARGV[4] ~= '1' and redis.call('EXISTS', meta) == 0 then
    redis.call('HSET', meta, 'next_event', '')
  end
  redis.call('HSET', described, session, time .. ' ' .. ARGV[2] .. ' ' .. description)
  redis.call('ZADD', consumers, time, session)
  redis.call('PEXPIRE', described, left + 7200000)
  redis.call('PEXPIRE', consumers, left + 7200000)
end
if #expired > 0 then
  redis.call('ZREM', consumers, unpack(expired))
  redis.call('HDEL', described, unpack(expired))
end
return 1
