-- hold: holds a group of the queue, or ends a hold.
-- keys msg meta wake leased turns working parked timers rated holds reply
-- includes now hold_for keep_reply refuse_layout noop_write
-- args the group as in tickets, for how many ms (0: the hold ends)
-- Returns a digit: 0 done.

-- include refuse_layout
-- include noop_write
hold_for(ARGV[4], tonumber(ARGV[5]), now_ms())
return keep_reply(DUEQ_OK)
