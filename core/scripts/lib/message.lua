-- defines current_ticket find_message; needs attempts msg; includes attempts envelope ticket
-- A message's current ticket and its attempts as a table. text: its attempts; nil or false: it
-- never came back, so the envelope says the suffix.
local function current_ticket(id, envelope, text)
  local had = attempts_read(text)
  if not text then
    had.suffix = (envelope_read(envelope) or {}).suffix
  end
  return ticket_write(had.deliveries, id, had.suffix), had
end

-- Looks a message up. Returns nil, or a table: envelope, text (its attempts; false: none), ticket,
-- had (its attempts as a table), and, if one of `sets` has it, place (which one) and time.
local function find_message(id, sets)
  local envelope = redis.call('HGET', msg, id)
  if not envelope then
    return nil
  end
  local m = { envelope = envelope, text = redis.call('HGET', attempts, id) }
  m.ticket, m.had = current_ticket(id, envelope, m.text)
  for n, set in ipairs(sets) do
    local time = redis.call('ZSCORE', set, m.ticket)
    if time then
      m.place, m.time = n, time
    end
  end
  return m
end
