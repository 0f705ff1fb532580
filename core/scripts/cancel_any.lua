-- cancel_any: takes messages back from any state but the outbox, where they belong to another queue. The ticket of a ready
-- one stays in its line, and is dropped when it is met without its message.
-- keys msg delayed leased dead outbox meta attempts reply
-- args ids
-- Returns a digit for each: the state that it was in (1 ready, 2 delayed, 3 leased, 4 dead), or 0: there is no
-- such message, or it is in the outbox.

-- include plain
local sets, states, seen, cancelled = { delayed, leased, dead, outbox }, {}, {}, 0
for i = 4, #ARGV do
  local id = ARGV[i]
  local m = not seen[id] and message_of(id, sets)
  local place = m and (m.place or 0) or 4
  seen[id] = true
  states[#states + 1] = place < 4 and place + 1 or 0
  if place < 4 then
    forget(id)
    cancelled = cancelled + 1
  end
  if place > 0 and place < 4 then
    gone('ZREM', sets[place], m.ticket)
  end
end
remove_gone()
count('cancelled', cancelled)
return done(table.concat(states))
