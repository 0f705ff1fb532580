-- Drops the tickets that lead a line and have no message any more (cancelled, expired, replaced), a thousand at
-- most. Returns how many they were.
local function sweep(line, msg)
  local dropped = 0
  for _ = 1, 5 do
    local tickets, ids, tags = redis.call('LRANGE', line, 0, 199), {}, {}
    for i, ticket in ipairs(tickets) do
      local _, id, tag = ticket_read(ticket)
      ids[i], tags[i] = id or '', tag
    end
    local envelopes, stale = #ids > 0 and redis.call('HMGET', msg, unpack(ids)) or {}, 0
    while stale < #ids and ids[stale + 1] ~= '' do
      local envelope = envelopes[stale + 1]
      local e = envelope and envelope_read(envelope)
      if envelope and (not e or e.tag == tags[stale + 1]) then
        break
      end
      stale = stale + 1
    end
    if stale > 0 then
      redis.call('LTRIM', line, stale, -1)
      dropped = dropped + stale
    end
    if stale < 200 then
      break
    end
  end
  return dropped
end
