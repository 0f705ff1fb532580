-- push_group_full: as push_full, of messages of which at least one has a group.
-- keys msg ready high low delayed wake meta reply rates unique groups lines turns
-- includes now store_drafts keep_reply keep_history return_problem help_sort
-- args as push_full
-- Returns what push_full returns.

local now = now_ms()
-- include keep_history
local outcome, problem = store_drafts(ARGV, 4, now, {})
-- include return_problem
help_sort((#ARGV - 3) / 4)
return keep_reply(outcome)
