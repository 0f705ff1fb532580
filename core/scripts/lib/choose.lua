-- Takes tickets from the lines, in order, until `most` are to be delivered or 1,000 were met: what is no ticket, has no
-- message, is over its time to live or has exhausted its attempts is not delivered. Changes nothing but what ends
-- (lib/finish.lua), what goes (lib/gone.lua), and `garbage`, to which it adds what is no ticket. Returns a table: deliver
-- (tickets), envelopes and records (attempts of those that came back) by the same index, leases (their own), expired
-- and damaged (how many), met (by line), out (a relay has work).
local function choose(lines, most, now, garbage)
  local c = {
    deliver = {}, envelopes = {}, records = {}, leases = {}, expired = 0, damaged = 0, met = {},
  }
  local left = 1000

  local function judge(ticket, deliveries, id, suffix, envelope, record)
    local e = envelope and envelope_read(envelope)
    if not deliveries then
      garbage[#garbage + 1] = ticket
    elseif envelope and (not e or e.suffix == suffix) then
      local had = attempts_read(record)
      had.deliveries, had.suffix = deliveries, suffix
      -- A ticket cannot say one more.
      local spent = not e or deliveries == 999999999
        or (e.max_attempts > 0 and failed_times(had) >= e.max_attempts)
        or (e.max_crashes > 0 and had.crashes >= e.max_crashes)
      if e and e.expires and e.expires <= now then
        forget(id)
        c.expired = c.expired + 1
      elseif spent then
        had.error = e and had.error or 'damaged envelope'
        -- Of the last delivery that was.
        note_failure(now, 'died', ticket_write(math.max(0, deliveries - 1), id, suffix), '', e and '' or had.error)
        c.damaged = c.damaged + (e and 0 or 1)
        look_around()
        c.out = finish(id, e, had, now) or c.out
      else
        local n = #c.deliver + 1
        c.deliver[n], c.envelopes[n], c.leases[n] = ticket, envelope, e.lease or false
        c.records[n] = record or false
      end
    end
  end

  for l, line in ipairs(lines) do
    c.met[l] = 0
    while #c.deliver < most and left > 0 do
      local size = math.min(left, most - #c.deliver + (c.met[l] > 0 and 200 or 0))
      local tickets = redis.call('LRANGE', line, c.met[l], c.met[l] + size - 1)
      if #tickets == 0 then
        break
      end
      local deliveries, ids, suffixes = {}, {}, {}
      for i, ticket in ipairs(tickets) do
        deliveries[i], ids[i], suffixes[i] = ticket_read(ticket)
        ids[i] = ids[i] or ''
      end
      local envelopes = redis.call('HMGET', msg, unpack(ids))
      local records = redis.call('HMGET', attempts, unpack(ids))
      for i, ticket in ipairs(tickets) do
        if #c.deliver < most then
          judge(ticket, deliveries[i], ids[i], suffixes[i], envelopes[i], deliveries[i] ~= 0 and records[i])
          c.met[l], left = c.met[l] + 1, left - 1
        end
      end
    end
  end
  return c
end
