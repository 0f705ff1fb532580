-- bury: ends a leased message, as its policy says.
-- keys msg leased dead outbox meta attempts failures reply
-- args ticket, reason, who it is (lib/failure.lua)
-- Returns a digit: 0 done, 4 the lease was lost; and '+' as of retry.

-- include known
-- include permit
local now = now_ms()
local id, envelope, had = holder(ARGV[4])
if not id then
  return done(DUEQ_LEASE_LOST)
end
had.error = ARGV[5]
local out = finish(id, envelope_read(envelope), had, now)
note_failure(now, 'buried', ARGV[4], ARGV[6], ARGV[5])
keep_failures()
gone('ZREM', leased, ARGV[4])
remove_gone()
return done(DUEQ_OK .. (out and '+' or ''))
