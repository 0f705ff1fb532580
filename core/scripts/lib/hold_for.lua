-- defines hold_for; needs holds meta parked timers turns; includes regroup wake
-- Holds a group: for so many ms from now no message of it is delivered; 0: the hold ends. The next
-- reserve that meets the turn of a held group parks it (lib/group_limits.lua). So nothing is moved
-- here, but a group that waits for an earlier or a later time. The reserve after the last hold
-- removes what holds need.
-- name: as in tickets; leaving: a ticket of the group that this script removes from `leased`, or
-- nil.
local function hold_for(name, ms, now, leaving)
  local parked_at = redis.call('ZSCORE', parked, name)
  local waits = redis.call('ZSCORE', timers, name)
  if ms > 0 and redis.call('HGET', meta, 'limited') ~= '2' then
    regroup(true, leaving)
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
    redis.call('ZADD', holds, 'XX', string.format('%d', now), name)
  end
end
