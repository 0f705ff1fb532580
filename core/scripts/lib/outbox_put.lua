-- defines outbox_put; needs meta outbox; includes put_tickets
-- Puts an entry into the outbox, from which a relay takes it to another queue: who put it there
-- does so within the
-- second that it is due in, after that whoever meets the event.
local function outbox_put(ticket, at)
  put_tickets(outbox, at, { ticket })
  local state = redis.pcall('HMGET', meta, 'outbox_event', 'next_event')
  for i, name in ipairs({ 'outbox_event', 'next_event' }) do
    if at < (tonumber(state[i] or '') or math.huge) then
      redis.pcall('HSET', meta, name, string.format('%d', at))
    end
  end
end
