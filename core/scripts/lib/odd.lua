-- Settles the tickets of a round that are not the usual: delivered before, with an id, a lease or headers
-- of their own, cancelled, or damaged. Fills, by index, which are given out, the messages' own leases and
-- the envelopes; returns those to be set aside: spent as { ticket, id, before, stamp, text }, and garbage;
-- or, third, the error that the server answered.
local function settle(msg, past, odd, tickets, envelopes, given, leases)
  local ids, befores, stamps, spent, garbage = {}, {}, {}, {}, {}
  for k, i in ipairs(odd) do
    befores[k], ids[k], stamps[k] = ticket_read(tickets[i])
    ids[k] = ids[k] or ''
  end
  local found = redis.pcall('HMGET', msg, unpack(ids))
  if found.err then
    return spent, garbage, found
  end
  for k, i in ipairs(odd) do
    local before, id, envelope = befores[k], ids[k], found[k]
    local max_attempts, stamp, lease
    if envelope then
      max_attempts, stamp, lease = envelope_read(envelope)
    end
    if not before then
      garbage[#garbage + 1] = tickets[i]
    elseif envelope and not max_attempts then
      spent[#spent + 1] = { tickets[i], id, before, stamps[k], 'damaged envelope' }
    elseif envelope and stamp == stamps[k] then
      -- Only a message that seems spent needs its past: it may have been kicked.
      local story = max_attempts > 0 and before >= max_attempts and redis.pcall('HGET', past, id)
      if type(story) == 'table' then
        return spent, garbage, story
      end
      if story ~= false and before - past_read(story).forgiven >= max_attempts then
        spent[#spent + 1] = { tickets[i], id, before, stamp }
      else
        given[i], leases[i], envelopes[i] = true, lease, envelope
      end
    end
  end
  return spent, garbage
end
