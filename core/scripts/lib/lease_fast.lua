-- needs call deliver ends leased n tickets; includes noop_write
-- Leases the messages of a fast reserve. deliver: the end of the lease and the ticket of each;
-- false: there is one message.
local added = n == 1 and redis.pcall('ZADD', leased, ends, tickets[1])
  or redis.pcall('ZADD', leased, unpack(deliver))
if type(added) == 'table' then
  if not string.find(added.err, 'OOM', 1, true) then
    return added
  end
  -- A full server refuses this as the first write, and not behind another one.
  -- include noop_write
  call('ZADD', leased, unpack(deliver or { ends, tickets[1] }))
end
