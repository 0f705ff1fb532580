-- bury: ends a leased message, as its policy says.
-- keys msg leased dead outbox meta attempts reply
-- args ticket, reason
-- Returns a digit: 0 done, 4 the lease was lost; and '+' as of retry.

-- include permit
local now = now_ms()
local id, envelope, had = holder(ARGV[4], now)
if not id then
  return done(DUEQ_LEASE_LOST)
end
had.error = ARGV[5]
local how = finish(id, envelope_read(envelope), had, now)
gone.tickets = { ARGV[4] }
if how == 'gone' then
  gone.ids, gone.records = { id }, { id }
end
remove_gone(leased)
return done(DUEQ_OK .. (how == 'out' and '+' or ''))
