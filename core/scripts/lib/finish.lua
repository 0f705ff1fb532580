-- The end of a message: as its policy says it is DEAD, gone, or moves to its dead-letter queue.
-- The queue whose keys that takes and that `other` is not; nil where it can be done.
local function finish_needs(msg, e, other)
  local name = e and e.dead_letter
  if name and queue_of(msg) ~= name and (not other or other.queue ~= name) then
    return name
  end
end

-- Raises the errors of foreign values under the keys that finish writes.
local function finish_check(keys, other)
  redis.call('ZCARD', keys.dead)
  redis.call('HLEN', keys.past)
  if other then
    redis.call('HLEN', other.msg)
    redis.call('HLEN', other.past)
    line_check(other)
  end
end

-- Ends the message whose ticket (the one after its last delivery) and past are given; it is in no state any
-- more. A message of its id in the dead-letter queue is not touched: then this one is DEAD in its own.
local function finish(keys, e, id, ticket, past, now, other)
  count(keys.info, 'buried', 1)
  local moves = e and e.dead_letter and other and other.queue == e.dead_letter
  if e and e.drop then
    redis.call('HDEL', keys.msg, id)
    redis.call('HDEL', keys.past, id)
  elseif moves and redis.call('HSETNX', other.msg, id, redis.call('HGET', keys.msg, id)) == 1 then
    past.forgiven, past.crashes = past.before, 0
    redis.call('HSET', other.past, id, past_write(past))
    redis.call('HDEL', keys.msg, id)
    redis.call('HDEL', keys.past, id)
    count(other.info, 'pushed', 1)
    if line_up(other, { ticket }) then
      wake_one(other.wake)
    end
  else
    redis.call('ZADD', keys.dead, string.format('%d', now), ticket)
    redis.call('HSET', keys.past, id, past_write(past))
  end
end
