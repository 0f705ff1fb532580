-- push_replace: stores messages, of which some may replace living ones.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- args id, envelope, due, extra of each (lib/store.lua)
-- Returns a digit for each: 0 stored, 2 a living message has this id, or it is still unique.

-- include replace
local now = now_ms()
-- include history
local outcome, problem = store(ARGV, 4, now, { replace = replace })
-- include failed
remove_gone()
return done(outcome)
