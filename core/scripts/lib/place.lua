-- A message's current ticket, from its past and, before it ever came back, its envelope.
-- Returns the ticket, its number of deliveries and the last error.
local function current_ticket(id, envelope, past)
  local before, _, text, stamp = past_read(past)
  if not past then
    stamp = select(2, envelope_read(envelope))
  end
  return ticket_write(before, id, stamp), before, text
end
