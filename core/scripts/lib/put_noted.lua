-- defines length number; needs argv from msg n ready; includes return_problem
-- Stores messages whose ends are noted, with ids that the core made. argv has the id and the
-- envelope of each from `from` on. n: how many messages there are. length: of `ready` afterwards.
-- number: n as a text.
local number, length = '1', nil
-- Tickets come first: a reserve drops a ticket without a message.
if n == 1 then
  length = redis.pcall('RPUSH', ready, '0.!:' .. argv[from])
else
  local tickets = {}
  for i = 1, n do
    tickets[i] = '0.!:' .. argv[from + 2 * i - 2]
  end
  length = redis.pcall('RPUSH', ready, unpack(tickets))
  number = string.format('%d', n)
end
if length ~= n then
  local problem = type(length) == 'table' and length
  -- include return_problem
end
redis.call('HSET', msg, unpack(argv, from))
