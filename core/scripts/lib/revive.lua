-- Takes a message from the dead, its failures and crashes forgiven, and appends its ticket to `back`.
-- Returns false where it is not dead.
local function revive(keys, id, envelope, back)
  local ticket, past = current_ticket(id, envelope, redis.call('HGET', keys.past, id))
  if redis.call('ZREM', keys.dead, ticket) == 0 then
    return false
  end
  past.forgiven, past.crashes = past.before, 0
  redis.call('HSET', keys.past, id, past_write(past))
  back[#back + 1] = ticket
  return true
end
