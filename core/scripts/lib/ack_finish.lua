-- needs tickets; includes deferred_removals acknowledge count now keep_history
-- The second half of ack_full and ack_wake: finishes the messages.
if #tickets > 0 then
  local now = ARGV[3] == '1' and now_ms()
  -- include keep_history
  acknowledge(tickets)
  run_removals()
  count('acked', #tickets)
end
