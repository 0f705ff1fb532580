-- kill: makes delayed messages dead. They are kept, and not delivered until they are kicked.
-- keys msg delayed dead outbox meta attempts reply ends kept started awaited guests
-- includes find_in_set put_tickets now bulk count keep_reply refuse_layout noop_write note_end
-- includes deferred_removals
-- args ids
-- Returns a digit for each: 0 it is dead, 3 there is no such delayed message; and '+' if a relay
--   has work.

-- include refuse_layout
-- include noop_write
local now = now_ms()
local outcome, tickets, messages = find_in_set({ unpack(ARGV, 4) }, delayed)
for id, m in pairs(messages) do
  note_end(now, id, m.envelope, 'dead', m.ticket, '', m.had.error)
end
put_tickets(dead, now, tickets)
local out = write_ends()
run_removals()
bulk('ZREM', delayed, tickets)
count('died', #tickets)
return keep_reply(outcome .. (out and '+' or ''))
