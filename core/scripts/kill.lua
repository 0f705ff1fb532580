-- kill: makes delayed messages dead. They are kept, and not delivered until they are kicked.
-- keys msg delayed dead meta attempts reply
-- includes find_in_set put_tickets now bulk count keep_reply refuse_layout noop_write
-- args ids
-- Returns a digit for each: 0 it is dead, 3 there is no such delayed message.

-- include refuse_layout
-- include noop_write
local outcome, tickets = find_in_set({ unpack(ARGV, 4) }, delayed)
put_tickets(dead, now_ms(), tickets)
bulk('ZREM', delayed, tickets)
count('died', #tickets)
return keep_reply(outcome)
