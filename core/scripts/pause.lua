-- pause: the queue delivers nothing until it is resumed. Pushes and acks go on.
-- keys msg meta reply
-- includes keep_reply refuse_layout
-- Returns a digit: 0 it is paused.
-- The next event is noted as 0. So every reserve looks closer, and sees the pause.

-- include refuse_layout
redis.call('HSET', meta, 'paused', '1', 'next_event', '0')
return keep_reply(DUEQ_OK)
