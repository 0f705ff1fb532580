-- retry: gives a leased message back as failed, or ends it if its attempts are exhausted.
-- keys msg ready high low delayed leased dead outbox wake meta attempts failures reply
-- keys turns working parked timers ends kept started awaited guests
-- includes now retry_message note_failure deferred_removals note_event keep_reply held noop_write
-- includes give_places end_delivery note_end
-- args ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error, who
--   (lib/note_failure.lua)
-- Returns a digit: 0 it will be delivered again, 5 it has ended, 4 the lease is lost; and '+' if a
--   relay has work.

-- include held
-- include noop_write
local now = now_ms()
local grouped = string.find(ARGV[4], '=', 1, true)
local taken_out = { grouped and redis.call('ZSCORE', leased, ARGV[4]) and ARGV[4] or nil }
-- include give_places
local outcome, out, at =
  retry_message(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8], now)
if outcome == DUEQ_LEASE_LOST then
  return keep_reply(outcome)
end
keep_failures()
out = write_ends(now) or out
-- include end_delivery
if at then
  note_event(at, now)
end
return keep_reply(outcome .. (out and '+' or ''))
