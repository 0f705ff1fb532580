-- bury: ends a leased message by its policy.
-- keys msg leased dead outbox wake meta attempts failures reply
-- keys turns working parked timers ends kept started awaited guests
-- includes now leased_message keep_reply end_message envelope note_failure deferred_removals
-- includes held noop_write give_places end_delivery note_end
-- args ticket, reason, who says so (lib/note_failure.lua)
-- Returns a digit: 0 done, 4 the lease is lost; and '+' if a relay has work.

-- include held
-- include noop_write
local now = now_ms()
local id, envelope, had = leased_message(ARGV[4])
if not id then
  return keep_reply(DUEQ_LEASE_LOST)
end
local taken_out = { ARGV[4] }
-- include give_places
had.error = ARGV[5]
local out = end_message(id, envelope_read(envelope), had, now, ARGV[6])
note_failure(now, 'buried', ARGV[4], ARGV[6], ARGV[5])
keep_failures()
out = write_ends(now) or out
defer_removal('ZREM', leased, ARGV[4])
-- include end_delivery
return keep_reply(DUEQ_OK .. (out and '+' or ''))
