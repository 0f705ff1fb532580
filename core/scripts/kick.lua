-- kick: gives dead messages back to be delivered at once, with as many attempts again.
-- keys msg ready high low dead wake meta attempts reply
-- args ids
-- Returns a digit for each: 0 it is ready, 3 there is no such dead message.
-- include ticket
-- include name
-- include envelope
-- include attempts
-- include current
-- include wake
-- include line
-- include revive
-- include done

local outcome = revive({ unpack(ARGV, 4) })
return done(outcome)
