-- push_group_full: as push_full, of messages of which at least one has a group.
-- keys msg ready high low delayed wake meta reply rates unique groups lines turns
-- includes now store_below_backlog keep_reply keep_history return_problem help_sort
-- args as push_full
-- Returns what push_full returns, or of a message 9: its group is at its backlog.

local now = now_ms()
-- include keep_history
local outcome, problem = store_below_backlog(ARGV, 4, now, {})
-- include return_problem
if string.find(outcome, DUEQ_OK, 1, true) then
  help_sort((#ARGV - 3) / 4, backlog_holds())
end
return keep_reply(outcome)
