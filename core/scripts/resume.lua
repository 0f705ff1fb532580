-- resume: ends a pause, and wakes a waiting consumer.
-- keys msg wake meta reply
-- includes wake keep_reply refuse_layout
-- Returns a digit: 0 it is not paused.
-- The next event stays noted as 0. So the next reserve moves what fell due in the pause, and notes
-- the time anew.

-- include refuse_layout
if redis.call('HDEL', meta, 'paused') == 1 then
  wake_one()
end
return keep_reply(DUEQ_OK)
