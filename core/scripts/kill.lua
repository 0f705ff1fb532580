-- kill: makes delayed messages dead. They are kept, and not delivered until they are kicked.
-- keys msg delayed dead outbox wake meta attempts reply turns working parked timers
-- keys ends kept started awaited guests
-- includes find_in_set put_tickets now bulk count keep_reply refuse_layout noop_write wake
-- includes deferred_removals leaves note_end
-- args ids
-- Returns a digit for each: 0 it is dead, 3 there is no such delayed message; and '+' if a relay
--   has work.

-- include refuse_layout
-- include noop_write
local now = now_ms()
local outcome, tickets, messages = find_in_set({ unpack(ARGV, 4) }, delayed)
leaves(tickets, true)
for id, m in pairs(messages) do
  note_end(id, m.envelope, 'dead', m.ticket, '', m.had.error)
end
put_tickets(dead, now, tickets)
local out = write_ends(now)
local returned = write_left()
bulk('ZREM', delayed, tickets)
run_removals()
if returned > 0 then
  wake_one(returned > 1)
end
count('died', #tickets)
return keep_reply(outcome .. (out and '+' or ''))
