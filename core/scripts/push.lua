-- push: stores messages whose ids the core made, so that none can be there yet; all are due now.
-- keys msg ready wake meta reply
-- args id, envelope of each
-- Returns a digit for each: 0 stored.
-- include done
local argv, tickets = ARGV, {}
for i = 4, #argv, 2 do
  tickets[#tickets + 1] = argv[i]
end
-- Tickets come first: one without a message is dropped when it is met.
local n, number = #tickets, '1'
local length = redis.call('RPUSH', ready, unpack(tickets))
redis.call('HSET', msg, unpack(argv, 4))
if n > 1 then
  number = string.format('%d', n)
end
if length == n then
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
return done(string.rep(DUEQ_OK, n))
