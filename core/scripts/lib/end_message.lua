-- defines end_message; needs attempts dead msg
-- includes ticket count deferred_removals outbox_put put_tickets attempts chain_failed note_end
-- includes queue_name
-- Ends a message by its policy: it moves to `dead`, to the outbox for its dead-letter queue, or is
-- dropped. had: its attempts, which count the last delivery. e: its envelope as a table (nil:
-- corrupt). by: who ended the delivery (lib/note_end.lua). Returns whether a relay has work.
local function end_message(id, e, had, now, by)
  local ticket = ticket_write(had.deliveries, id, had.suffix)
  note_end(id, e and e.bytes or redis.call('HGET', msg, id), 'dead', ticket, by, had.error)
  local out = e and e.dead_letter and e.dead_letter ~= queue_name()
  count('died', 1)
  local caught = e and chain_failed(id, e, ticket, had.error, now)
  if not out and e and e.drop then
    defer_forget(id)
    return caught
  end
  if out then
    outbox_put(ticket, now + 1000)
  else
    put_tickets(dead, now, { ticket })
  end
  redis.call('HSET', attempts, id, attempts_write(had))
  return out or caught
end
