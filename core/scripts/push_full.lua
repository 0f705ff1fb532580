-- push_full: stores messages, also with ids of the caller's own, priorities, times to live and
-- times of being unique.
-- keys msg ready high low delayed wake meta reply rates unique
-- includes now store_drafts keep_reply keep_history return_problem
-- args id, envelope, due, extra of each (lib/store_drafts.lua)
-- Returns a digit for each: 0 stored, 2 a living message has this id, or it is still unique.

local now = now_ms()
-- include keep_history
local outcome, problem = store_drafts(ARGV, 4, now, {})
-- include return_problem
return keep_reply(outcome)
