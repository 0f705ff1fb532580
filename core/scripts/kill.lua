-- kill: makes delayed messages dead. They are kept, and not delivered until they are kicked.
-- keys msg delayed dead wake meta attempts reply turns working parked timers
-- includes find_in_set put_tickets now bulk count keep_reply refuse_layout noop_write wake
-- includes deferred_removals leaves
-- args ids
-- Returns a digit for each: 0 it is dead, 3 there is no such delayed message.

-- include refuse_layout
-- include noop_write
local outcome, tickets = find_in_set({ unpack(ARGV, 4) }, delayed)
leaves(tickets, true)
put_tickets(dead, now_ms(), tickets)
local returned = write_left()
bulk('ZREM', delayed, tickets)
run_removals()
if returned > 0 then
  wake_one(returned > 1)
end
count('died', #tickets)
return keep_reply(outcome)
