-- lock: takes a lock for a time, if nobody has it.
-- keys lock lock_wake reply
-- includes now keep_reply
-- args token, time to live in ms
-- Returns { now ms, -1, 0, 0, token } to the new owner, else { now ms, ms until it may be free, 1,
--   0 }.

local now = now_ms()
if redis.call('GET', lock) ~= ARGV[4]
  and not redis.call('SET', lock, ARGV[4], 'NX', 'PX', ARGV[5]) then
  local left = redis.call('PTTL', lock)
  return { now, left < 0 and 1000 or left + 1, 1, 0 }
end
redis.pcall('ZREM', lock_wake, 'w')
keep_reply(ARGV[4])
return { now, -1, 0, 0, ARGV[4] }
