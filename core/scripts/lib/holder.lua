-- The message that a ticket holds: returns its id, tag, envelope, and its past with this delivery
-- counted; nil where the lease was lost.
local function holder(keys, ticket, now)
  local before, id, tag = ticket_read(ticket)
  local envelope = id and redis.call('HGET', keys.msg, id)
  if not envelope then
    -- What is left of a message that is gone.
    redis.call('ZREM', keys.leased, ticket)
    return nil
  end
  if not held(keys.leased, ticket, now) then
    return nil
  end
  local past = past_read(redis.call('HGET', keys.past, id))
  past.before, past.tag = before + 1, tag
  return id, tag, envelope, past
end
