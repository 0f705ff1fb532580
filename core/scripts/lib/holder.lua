-- The message that a ticket holds: its id, its envelope, and its attempts with this delivery counted;
-- nil where the lease was lost.
local function holder(ticket, now)
  local deliveries, id, suffix = ticket_read(ticket)
  local envelope = id and redis.call('HGET', msg, id)
  local stop = envelope and redis.call('ZSCORE', leased, ticket)
  if not stop or tonumber(stop) <= now then
    return nil
  end
  local had = attempts_read(redis.call('HGET', attempts, id))
  had.deliveries, had.suffix = deliveries + 1, suffix
  return id, envelope, had
end
