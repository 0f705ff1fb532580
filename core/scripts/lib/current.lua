-- A message's current ticket, from its attempts and, before it ever came back, its envelope.
-- Returns the ticket and its attempts as a table.
local function current_ticket(id, envelope, text)
  local had = attempts_read(text)
  if not text then
    had.suffix = (envelope_read(envelope) or {}).suffix
  end
  return ticket_write(had.deliveries, id, had.suffix), had
end
