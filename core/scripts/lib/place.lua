-- A message's current ticket, from its past and, before it ever came back, its envelope.
-- Returns the ticket and the past.
local function current_ticket(id, envelope, text)
  local past, stamp = past_read(text), nil
  if text then
    stamp = past.stamp
  else
    stamp = select(2, envelope_read(envelope))
    past.stamp = stamp
  end
  return ticket_write(past.before, id, stamp), past
end
