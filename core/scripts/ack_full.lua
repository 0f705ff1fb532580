-- ack_full: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- includes ack_leases keep_reply
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost.

-- include ack_leases
return keep_reply(answer)
