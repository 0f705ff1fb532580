-- reserve_timed: a reserve that also says how late messages are, and keeps the history.
-- keys msg ready leased delayed wake meta reply rates
-- includes lateness keep_history fast
-- args as reserve
-- passes on to reserve_full
-- Returns what reserve returns. Behind the messages comes a text, "MARK UNTIL LATE LATE ...". LATE:
--   how many ms late each message is ('-': it was in the lane; '?': not known). The first ticket in
--   the lane came between MARK and UNTIL (see stats.lua).
local function keep_history(now)
  -- include keep_history
end
-- include fast
