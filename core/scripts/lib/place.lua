-- A message's current ticket, from its past and, before it ever came back, its envelope.
-- Returns the ticket and the past.
local function current_ticket(id, envelope, text)
  local past = past_read(text)
  if not text then
    past.tag = (envelope_read(envelope) or {}).tag
  end
  return ticket_write(past.before, id, past.tag), past
end

-- Is a ticket that was met the message's current one? Of a message whose envelope is damaged any is.
local function is_current(ticket, id, envelope, text)
  return ticket == current_ticket(id, envelope, text) or not envelope_read(envelope)
end
