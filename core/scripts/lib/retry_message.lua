-- defines retry_message; needs attempts delayed leased
-- includes leased_message envelope attempts deferred_removals count note_failure end_message
-- includes backoff ticket put_tickets enqueue
-- Gives the message of a ticket back as failed, after `delay` ms (-1: by its backoff, with the
-- chance of 0 to 65535), or ends it if its attempts are exhausted. by: who says so
-- (lib/note_failure.lua). Returns the outcome, whether a relay has work, and when the message is
-- due (nil: now).
local function retry_message(ticket, delay, chance, text, by, now)
  local id, envelope, had = leased_message(ticket)
  if not id then
    return DUEQ_LEASE_LOST
  end
  local e, failed = envelope_read(envelope), failure_count(had)
  had.error = text
  defer_removal('ZREM', leased, ticket)
  count('retried', 1)
  if not e or (e.max_attempts > 0 and failed >= e.max_attempts) then
    note_failure(now, 'died', ticket, by, text)
    return DUEQ_EXHAUSTED, end_message(id, e, had, now, by)
  end
  note_failure(now, 'failed', ticket, by, text)
  if delay < 0 then
    delay = backoff_ms(e.backoff, failed, chance)
  end
  local fresh = { ticket_write(had.deliveries, id, had.suffix) }
  if delay > 0 then
    put_tickets(delayed, now + delay, fresh)
  else
    enqueue(fresh)
  end
  redis.call('HSET', attempts, id, attempts_write(had))
  return DUEQ_OK, false, delay > 0 and now + delay or nil
end
