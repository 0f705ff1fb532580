-- Ends a message whose attempts, with the last delivery, are given; `e` is its envelope as a table (nil: damaged). As
-- its policy says, it is DEAD, gone, or moves to its dead-letter queue by the outbox. Returns 'gone', 'out' or 'dead'.
local function finish(id, e, had, now)
  count('died', 1)
  if e and e.drop then
    return 'gone'
  end
  local ticket = ticket_write(had.deliveries, id, had.suffix)
  redis.call('HSET', attempts, id, attempts_write(had))
  if e and e.dead_letter and e.dead_letter ~= string.match(msg, '^dueq:{(.*)}:msg$') then
    put_out(ticket, now)
    return 'out'
  end
  redis.call('ZADD', dead, string.format('%d', now), ticket)
  return 'dead'
end
