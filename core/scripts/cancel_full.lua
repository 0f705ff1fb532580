-- cancel_full: removes messages of any state but outbox, where a message belongs to another queue.
-- The ticket of a ready message stays in its lane. The reserve that meets it drops it.
-- keys msg delayed leased dead outbox wake meta attempts reply turns working parked timers
-- keys ends kept started awaited guests
-- includes message deferred_removals count keep_reply held refuse_partitioned wake leaves
-- includes note_end now noop_write
-- args ids
-- Returns a digit for each: the state that it was in (1 ready, 2 delayed, 3 leased, 4 dead), or 0:
--   there is no such message, or it is in the outbox; and '+' if a relay has work.

-- include held
-- include refuse_partitioned
local sets, states, seen, cancelled = { delayed, leased, dead, outbox }, {}, {}, 0
local taken_out, waiting, has_group = {}, {}, false
for i = 4, #ARGV do
  local id = ARGV[i]
  local m = not seen[id] and find_message(id, sets)
  local place = m and (m.place or 0) or 4
  seen[id] = true
  states[#states + 1] = place < 4 and place + 1 or 0
  if place < 4 then
    defer_forget(id)
    cancelled = cancelled + 1
    has_group = has_group or string.find(m.ticket, '=', 1, true)
  end
  if place < 3 then
    note_end(id, m.envelope, 'cancelled', m.ticket, '', '')
  end
  if place == 2 then
    taken_out[#taken_out + 1] = m.ticket
  elseif place < 2 then
    waiting[#waiting + 1] = m.ticket
  end
  if place > 0 and place < 4 then
    defer_removal('ZREM', sets[place], m.ticket)
  end
end
local returned = 0
if has_group then
  -- include leaves
  leaves(taken_out)
  leaves(waiting, true)
  returned = write_left()
end
local out = false
if noted_ends[1] then
  -- include noop_write
  local now = now_ms()
  out = write_ends(now)
end
run_removals()
if (held or returned > 0) and cancelled > 0 then
  wake_one(cancelled > 1)
end
count('cancelled', cancelled)
return keep_reply(table.concat(states) .. (out and '+' or ''))
