-- ack_push: finishes a leased message and pushes its successors to its own queue.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- args ticket, then id, envelope, due, extra of each (lib/store.lua)
-- Returns digits: of the message, 0 finished or 4 the lease was lost; then one for each successor, as of
-- push, or 4 as well.

local ticket, now = ARGV[4], now_ms()
if ARGV[3] == '1' then
  -- include history
  note_history(now)
end
local id = holder(ticket, now)
if not id then
  return done(string.rep(DUEQ_LEASE_LOST, 1 + (#ARGV - 4) / 4))
end
-- include permit
local outcome = store(ARGV, 5, now, { replace = replace, leaving = id })
table.insert(left.leased, ticket)
table.insert(left.ids, id)
remove_replaced()
local followed = false
for i = 5, #ARGV, 4 do
  local n = (i - 1) / 4
  followed = followed or ARGV[i] == id and string.sub(outcome, n, n) == DUEQ_OK .. ''
end
if not followed then
  redis.call('HDEL', msg, id)
end
count('acked', 1)
return done(DUEQ_OK .. outcome)
