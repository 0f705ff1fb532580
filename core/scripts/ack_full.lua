-- ack_full: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- includes ack_verify ack_finish keep_reply
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost.

-- include ack_verify
-- include ack_finish
return keep_reply(answer)
