-- Sorts the tickets of a round that are not the usual: delivered before, with a policy, an id, a lease or
-- headers of their own, cancelled, or damaged. It changes nothing. Fills `round`, by index: given (which are given out),
-- leases (their own), envelopes and texts (their pasts); and the lists
-- spent   those at their end: { id, ticket, past, envelope's table (nil: damaged) }
-- over    ids whose time to live is over
-- garbage entries that are no tickets
-- back    tickets at their end for which the keys of the queue round.needs must come first
-- Returns the error that the server answered, if it did.
local function sort_odd(keys, round, tickets, now, other)
  local ids, befores, tags, came, texts = {}, {}, {}, {}, {}
  for k, i in ipairs(round.odd) do
    befores[k], ids[k], tags[k] = ticket_read(tickets[i])
    ids[k] = ids[k] or ''
    if befores[k] and befores[k] > 0 then
      came[#came + 1] = ids[k]
    end
  end
  local found = redis.pcall('HMGET', keys.msg, unpack(ids))
  local pasts = #came > 0 and redis.pcall('HMGET', keys.past, unpack(came)) or {}
  if found.err or pasts.err then
    return found.err and found or pasts
  end
  for n, id in ipairs(came) do
    texts[id] = pasts[n]
  end
  for k, i in ipairs(round.odd) do
    local before, id, envelope = befores[k], ids[k], found[k]
    local e = envelope and envelope_read(envelope)
    if not before then
      round.garbage[#round.garbage + 1] = tickets[i]
    elseif envelope and (not e or e.tag == tags[k]) then
      local past = past_read(before > 0 and texts[id])
      past.before, past.tag = before, tags[k]
      -- A ticket cannot say one more.
      local spent = not e or before == 999999999
        or (e.max_attempts > 0 and failures(past) >= e.max_attempts)
        or (e.max_crashes > 0 and past.crashes >= e.max_crashes)
      local needs = spent and finish_needs(keys.msg, e, other)
      if e and e.expires and e.expires <= now then
        round.over[#round.over + 1] = id
      elseif needs then
        round.needs, round.back[#round.back + 1] = needs, tickets[i]
      elseif spent then
        past.text = e and past.text or 'damaged envelope'
        round.spent[#round.spent + 1] = { id, tickets[i], past, e }
      else
        round.given[i], round.leases[i] = true, e.lease
        round.envelopes[i], round.texts[i] = envelope, before > 0 and texts[id] or nil
      end
    end
  end
end

-- Settles what sort_odd found, after the others were given out. Returns how many entries were damaged.
local function settle_odd(keys, round, line, now, other)
  local damaged = #round.garbage
  for _, entry in ipairs(round.spent) do
    finish(keys, entry[4], entry[1], entry[2], entry[3], now, other)
    damaged = damaged + (entry[4] and 0 or 1)
  end
  if #round.over > 0 then
    redis.call('HDEL', keys.msg, unpack(round.over))
    redis.call('HDEL', keys.past, unpack(round.over))
    count(keys.info, 'expired', #round.over)
  end
  if #round.garbage > 0 then
    set_aside(keys.bad, round.garbage)
  end
  for n = #round.back, 1, -1 do
    redis.call('LPUSH', line, round.back[n])
  end
  return damaged
end
