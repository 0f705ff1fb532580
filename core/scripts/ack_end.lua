-- ack_end: finishes leased messages of which at least one notes its end, perhaps with a result.
-- keys msg leased attempts meta reply ready rates wake turns working parked timers
-- keys ends kept started awaited guests high low delayed outbox unique batches batch_ends
-- includes batch_counts ack_finish deferred_removals give_places keep_reply now note_end
-- includes noop_write return_problem verify_leases tell_limits
-- args who ends them, "HOST PID"; the result of the only message ('': none; else '=' and its
--   bytes); tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost; 'l' if the queue has limits; and '+'
--   if a relay has work.

local answer, tickets = verify_leases(6, #ARGV)
local problem = not answer and tickets
-- include return_problem
local taken_out, moment = tickets, now_ms()
note_acks(tickets, ARGV[4], ARGV[5])
-- include give_places
-- include noop_write
-- The batches come first: these lines end the script if a key has another type.
local out = write_ends(moment, batch_count)
out = write_batches(moment) or out
local returned = give_places and give_places() or 0
-- include ack_finish
-- include tell_limits
return keep_reply(answer .. (out and '+' or ''))
