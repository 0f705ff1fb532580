-- reserve_timed: a reserve that also says how late messages are.
-- keys msg ready leased delayed wake meta reply rates
-- args as of reserve, with '.0' behind how many
-- passes on to reserve_full
-- Returns what reserve does. Behind the messages comes a text, "MARK UNTIL LATE LATE ...": how late
-- each is, in ms ('-': it
-- was in the lane; '?': not known). The first in the lane came between MARK and UNTIL (see
-- stats.lua).
local timed = true
-- include fast
