-- Gives the message of a ticket back as failed, after `delay` ms (-1: by its backoff, with the chance of 0 to 65535),
-- or ends it when its attempts are used up. The old ticket, and the message where it is gone, are the caller's to
-- remove. Returns the outcome; the id (nil: the lease was lost); how it ended (lib/finish.lua, nil: it did not); and
-- when it is due (nil: now).
local function retry(ticket, delay, chance, text, now)
  local id, envelope, had = holder(ticket, now)
  if not id then
    return DUEQ_LEASE_LOST
  end
  local e = envelope_read(envelope)
  local failed = failures(had)
  had.error = text
  if not e or (e.max_attempts > 0 and failed >= e.max_attempts) then
    local how = finish(id, e, had, now)
    count('retried', 1)
    return DUEQ_EXHAUSTED, id, how
  end
  if delay < 0 then
    delay = e.backoff and backoff_ms(e.backoff, failed, chance) or 0
  end
  local fresh = ticket_write(had.deliveries, id, had.suffix)
  if delay > 0 then
    redis.call('ZADD', delayed, string.format('%d', now + delay), fresh)
  elseif line_up({ fresh }) then
    wake_one()
  end
  redis.call('HSET', attempts, id, attempts_write(had))
  count('retried', 1)
  return DUEQ_OK, id, nil, delay > 0 and now + delay or nil
end
