-- Puts an entry into the outbox, from which a relay takes it to another queue. The client that put it there relays
-- it within the next second; after that whoever meets the event does.
local function put_out(ticket, now)
  redis.call('ZADD', outbox, string.format('%d', now + 1000), ticket)
  local state = redis.pcall('HMGET', meta, 'outbox_event', 'next_event')
  for i, name in ipairs({ 'outbox_event', 'next_event' }) do
    local at = tonumber(state[i] or '')
    if not at or at > now + 1000 then
      redis.pcall('HSET', meta, name, string.format('%d', now + 1000))
    end
  end
end
