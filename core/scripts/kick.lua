-- kick: makes dead messages ready, with as many attempts as at first.
-- keys msg ready high low dead wake meta attempts begun reply
-- includes kick_messages keep_reply refuse_layout
-- args ids
-- Returns a digit for each: 0 it is ready, 3 there is no such dead message.

-- include refuse_layout
local outcome = kick_messages({ unpack(ARGV, 4) })
return keep_reply(outcome)
