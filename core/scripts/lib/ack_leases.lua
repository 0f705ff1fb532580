-- defines answer tickets
-- includes return_problem verify_leases deferred_removals acknowledge count now keep_history
-- The body of ack_full and ack_wake. answer: a digit for each ticket; tickets: those that were
-- leased.
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
