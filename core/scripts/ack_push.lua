-- ack_push: finishes a leased message and pushes its successors to its own queue.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- args ticket, then id, envelope, due, extra of each (lib/store.lua)
-- Returns digits: of the message, 0 finished or 4 the lease was lost; then one for each successor, as of
-- push, or 4 as well.

-- include known
-- include replace
local now = now_ms()
local id, envelope = holder(ARGV[4])
if not id then
  return done(string.rep(DUEQ_LEASE_LOST, 1 + (#ARGV - 4) / 4))
end
-- include history
-- include permit
local outcome = store(ARGV, 5, now, { replace = replace, leaving = id })
gone('HDEL', attempts, id)
-- A successor of its own id has another incarnation.
if redis.call('HGET', msg, id) == envelope then
  gone('HDEL', msg, id)
end
gone('ZREM', leased, ARGV[4])
remove_gone()
count('acked', 1)
return done(DUEQ_OK .. outcome)
