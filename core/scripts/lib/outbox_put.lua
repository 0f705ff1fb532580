-- defines outbox_put; needs meta outbox; includes put_tickets
-- Puts an entry into the outbox, from which a relay takes it to another queue. The caller's client
-- relays within a second. If it does not, a client that meets the event does.
local function outbox_put(ticket, at)
  put_tickets(outbox, at, { ticket })
  local state = redis.pcall('HMGET', meta, 'outbox_event', 'next_event')
  for i, name in ipairs({ 'outbox_event', 'next_event' }) do
    if at < (tonumber(state[i] or '') or math.huge) then
      redis.pcall('HSET', meta, name, string.format('%d', at))
    end
  end
end
