-- ack_wake: finishes leased messages. If others wait until fewer are leased, a consumer wakes.
-- keys msg leased attempts meta reply ready rates wake turns working parked timers
-- includes ack_verify ack_finish deferred_removals give_places keep_reply tell_limits
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost; and 'l' if the queue has limits.

-- include ack_verify
local taken_out = tickets
-- include give_places
local returned = give_places and give_places() or 0
-- include ack_finish
-- include tell_limits
return keep_reply(answer)
