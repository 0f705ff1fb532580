-- defines leased_message; needs attempts leased msg; includes ticket attempts
-- The message of a leased ticket: its id, its envelope, and its attempts, which count this
-- delivery; nil: the lease is lost, because the ticket is not in `leased`.
local function leased_message(ticket)
  local deliveries, id, suffix = ticket_read(ticket)
  local envelope = id and redis.call('HGET', msg, id)
  if not (envelope and redis.call('ZSCORE', leased, ticket)) then
    return nil
  end
  local had = attempts_read(redis.call('HGET', attempts, id))
  had.deliveries, had.suffix = deliveries + 1, suffix
  return id, envelope, had
end
