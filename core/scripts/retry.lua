-- retry: gives a leased message back, or ends it when its attempts are exhausted.
-- keys msg ready high low delayed leased dead outbox wake meta attempts failures reply
-- args ticket, delay in ms (-1: by its backoff), chance (0 to 65535), error text, who it is (lib/failure.lua)
-- Returns a digit: 0 it will be delivered again, 5 that was its end, 4 the lease was lost; and '+' behind it where a
-- relay is to take it to its dead-letter queue.

-- include known
-- include permit
local now = now_ms()
local outcome, out, at = retry(ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8], now)
keep_failures()
remove_gone()
if at then
  note_event(at, now)
end
return done(outcome .. (out and '+' or ''))
