-- defines hold_for; needs holds meta parked timers turns
-- includes limited_by regroup wake
-- Holds a group: for so many ms from now no message of it is delivered; 0: it is held no more. The
-- next reserve that meets the turn of a held group parks it (lib/group_limits.lua). So nothing is
-- moved here, but a group that waits for another time.
-- name: as in tickets.
local function hold_for(name, ms, now)
  local parked_at = redis.call('ZSCORE', parked, name)
  local waits = redis.call('ZSCORE', timers, name)
  if ms == 0 and redis.call('ZSCORE', holds, name) and redis.call('ZCARD', holds) == 1
    and limited_by() ~= '2' then
    -- That was the last hold, and the queue has no limits of groups.
    local limited = limited_by()
    regroup(false)
    if limited then
      redis.call('HSET', meta, 'limited', limited)
    else
      redis.call('HDEL', meta, 'limited')
    end
    wake_one(true)
    return
  end
  if ms > 0 and redis.call('HGET', meta, 'limited') ~= '2' then
    regroup(true)
    redis.call('HSET', meta, 'limited', '2', 'has_priorities', '1')
  elseif parked_at and waits then
    redis.call('ZADD', turns, 'NX', parked_at, name)
    redis.call('ZREM', parked, name)
    redis.call('ZREM', timers, name)
    wake_one()
  end
  if ms > 0 then
    redis.call('ZADD', holds, string.format('%d', now + ms), name)
  else
    redis.call('ZREM', holds, name)
  end
end
