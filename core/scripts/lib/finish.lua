-- Ends a message whose attempts, with the last delivery, are given; `e` is its envelope as a table (nil: damaged). As
-- its policy says, it is DEAD, gone, or moves to its dead-letter queue by the outbox. Returns 'gone', 'out' or 'dead'.
local function finish(id, e, had, now)
  local how, ticket = 'gone', ticket_write(had.deliveries, id, had.suffix)
  if e and e.dead_letter and e.dead_letter ~= string.match(msg, '^dueq:{(.*)}:msg$') then
    how = 'out'
    put_out(ticket, now)
  elseif not (e and e.drop) then
    how = 'dead'
    redis.call('ZADD', dead, string.format('%d', now), ticket)
  end
  if how ~= 'gone' then
    redis.call('HSET', attempts, id, attempts_write(had))
  end
  count('died', 1)
  return how
end
