-- push_replace_full: stores messages that may replace messages with the same ids.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- keys groups turns working parked timers ends kept started awaited guests
-- includes now store_below_backlog deferred_removals keep_reply replace_message keep_history
-- includes leaves wake note_end
-- includes return_problem
-- args id, envelope, due, extra of each (lib/draft_read.lua)
-- Returns a digit for each: 0 stored, 2 a message has this id, or the id is still unique, 9 its
--   group is at its backlog; and '+' if a relay has work.

-- include replace_message
local now = now_ms()
-- include keep_history
local outcome, problem = store_below_backlog(ARGV, 4, now, { replace = replace_message })
-- include return_problem
if write_left() > 0 then
  wake_one()
end
local out = write_ends(now)
run_removals()
return keep_reply(outcome .. (out and '+' or ''))
