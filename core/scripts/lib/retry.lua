-- Gives the message of a ticket back as failed, after `delay` ms (-1: by its backoff, with the chance of 0 to 65535),
-- or ends it when its attempts are exhausted. Returns the outcome, whether a relay has work, and when the message is due
-- (nil: now).
local function retry(ticket, delay, chance, text, now)
  local id, envelope, had = holder(ticket, now)
  if not id then
    return DUEQ_LEASE_LOST
  end
  local e, failed = envelope_read(envelope), failures(had)
  had.error = text
  gone('ZREM', leased, ticket)
  count('retried', 1)
  if not e or (e.max_attempts > 0 and failed >= e.max_attempts) then
    return DUEQ_EXHAUSTED, finish(id, e, had, now)
  end
  if delay < 0 then
    delay = backoff_ms(e.backoff, failed, chance)
  end
  local fresh = { ticket_write(had.deliveries, id, had.suffix) }
  if delay > 0 then
    put(delayed, now + delay, fresh)
  else
    join(fresh)
  end
  redis.call('HSET', attempts, id, attempts_write(had))
  return DUEQ_OK, false, delay > 0 and now + delay or nil
end
