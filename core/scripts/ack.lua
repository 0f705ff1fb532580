-- ack: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease was lost.

local now = now_ms()
local outcome, tickets = held(4, #ARGV, now)
if #tickets > 0 then
  -- include history
  acknowledge(tickets)
  remove_gone()
  count('acked', #tickets)
end
return done(outcome)
