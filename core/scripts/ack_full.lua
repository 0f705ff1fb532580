-- ack_full: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- includes return_problem verify_leases deferred_removals acknowledge count now keep_history
-- includes keep_reply
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost.

local answer, tickets = verify_leases(4, #ARGV)
local problem = not answer and tickets
-- include return_problem
if #tickets > 0 then
  local now = ARGV[3] == '1' and now_ms()
  -- include keep_history
  acknowledge(tickets)
  run_removals()
  count('acked', #tickets)
end
return keep_reply(answer)
