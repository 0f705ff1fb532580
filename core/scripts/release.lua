-- release: gives leased messages back as if they had not been delivered: at the fronts of their lines, in
-- their order, or delayed.
-- keys msg ready high low delayed leased wake meta attempts reply
-- args delay in ms, tickets
-- Returns a digit for each: 0 done, 4 the lease was lost.

-- include permit
local now, delay = now_ms(), tonumber(ARGV[4])
local outcome, back, later, records, seen = {}, {}, {}, {}, {}
for i = 5, #ARGV do
  local id, _, had = nil, nil, nil
  if not seen[ARGV[i]] then
    id, _, had = holder(ARGV[i], now)
  end
  seen[ARGV[i]] = true
  outcome[i - 4] = id and DUEQ_OK or DUEQ_LEASE_LOST
  if id then
    had.forgiven = had.forgiven + 1
    local ticket = ticket_write(had.deliveries, id, had.suffix)
    table.insert(gone.tickets, ARGV[i])
    -- The last comes first: so they stand at the front in their order.
    table.insert(back, 1, ticket)
    later[#later + 1], later[#later + 2] = string.format('%d', now + delay), ticket
    records[#records + 1], records[#records + 2] = id, attempts_write(had)
  end
end
if #back > 0 then
  if delay > 0 then
    redis.call('ZADD', delayed, unpack(later))
  else
    local was_empty, normal = line_up(back, true)
    if was_empty then
      wake_one(#back > 1)
    end
    if normal > 0 then
      count('ready_offset', -normal)
    end
  end
  redis.call('HSET', attempts, unpack(records))
  remove_gone(leased)
  if delay > 0 then
    note_event(now + delay, now)
  end
end
return done(table.concat(outcome))
