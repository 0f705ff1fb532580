-- push_own: stores messages, also with ids of the caller's own, priorities, times to live and times of being unique.
-- keys msg ready high low delayed wake meta reply rates unique
-- args id, envelope, due, extra of each (lib/store.lua)
-- Returns a digit for each: 0 stored, 2 a living message has this id, or it is still unique.

local now = now_ms()
-- include history
local outcome, problem = store(ARGV, 4, now, {})
-- include failed
return done(outcome)
