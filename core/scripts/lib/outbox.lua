-- Puts an entry into the outbox, from which a relay takes it to another queue: who put it there does so within the
-- second that it is due in, after that whoever meets the event.
local function put_out(ticket, at)
  put(outbox, at, { ticket })
  local state = redis.pcall('HMGET', meta, 'outbox_event', 'next_event')
  for i, name in ipairs({ 'outbox_event', 'next_event' }) do
    if at < (tonumber(state[i] or '') or math.huge) then
      redis.pcall('HSET', meta, name, string.format('%d', at))
    end
  end
end
