-- ack: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- includes return_problem verify_leases deferred_removals acknowledge count now keep_history
-- includes keep_reply_inline
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost.

local ticket, answer = ARGV[4], nil
if #ARGV == 4 and ARGV[3] == '0' and #ticket == 22 and not string.find(ticket, ':', 1, true) then
  -- The usual ticket is its own id, and its message has only an envelope.
  local stop = redis.pcall('ZSCORE', leased, ticket)
  -- An error has no length, and a time has one. Asking for the length is cheaper than for the type.
  if stop and #stop == 0 then
    local problem = stop
    -- include return_problem
  end
  answer = DUEQ_LEASE_LOST .. ''
  if stop then
    redis.call('HDEL', msg, ticket)
    redis.call('ZREM', leased, ticket)
    redis.pcall('HINCRBY', meta, 'acked', '1')
    answer = DUEQ_OK .. ''
  end
else
  -- include verify_leases
  -- include deferred_removals
  -- include acknowledge
  -- include count
  -- include now
  local tickets
  answer, tickets = verify_leases(4, #ARGV)
  local problem = not answer and tickets
  -- include return_problem
  if #tickets > 0 then
    local now = ARGV[3] == '1' and now_ms()
    -- include keep_history
    acknowledge(tickets)
    run_removals()
    count('acked', #tickets)
  end
end
-- include keep_reply_inline
return answer
