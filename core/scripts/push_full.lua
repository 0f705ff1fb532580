-- push_full: stores messages that may have ids of the caller's, priorities, times to live, and may
-- stay unique for a time.
-- keys msg ready high low delayed wake meta reply rates unique
-- includes now store_drafts keep_reply keep_history return_problem
-- args id, envelope, due, extra of each (lib/draft_read.lua)
-- Returns a digit for each: 0 stored, 2 a message has this id, or the id is still unique.

local now = now_ms()
-- include keep_history
local outcome, problem = store_drafts(ARGV, 4, now, {})
-- include return_problem
return keep_reply(outcome)
