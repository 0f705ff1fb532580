-- retry: gives a leased message back as failed, or ends it if its attempts are exhausted.
-- keys msg ready high low delayed leased dead outbox wake meta attempts failures reply
-- keys turns working parked timers
-- includes now retry_message note_failure deferred_removals note_event keep_reply held noop_write
-- includes wake leaves verify_leases
-- args ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error, who
--   (lib/note_failure.lua)
-- Returns a digit: 0 it will be delivered again, 5 it has ended, 4 the lease is lost; and '+' if a
--   relay has work.

-- include held
-- include noop_write
local now = now_ms()
local _, failed = verify_leases(4, 4)
leaves(failed or {})
local outcome, out, at =
  retry_message(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8], now)
keep_failures()
local left = outcome ~= DUEQ_LEASE_LOST
local returned = left and write_left() or 0
run_removals()
if left and (held or returned > 0) then
  wake_one()
end
if at then
  note_event(at, now)
end
return keep_reply(outcome .. (out and '+' or ''))
