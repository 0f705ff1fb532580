-- resume: ends a pause, and wakes a waiting consumer.
-- keys msg wake meta reply
-- Returns a digit: 0 it is not paused.
-- The time 0 stays noted: the next reserve moves what fell due meanwhile, and notes the time anew.

-- include plain
if redis.call('HDEL', meta, 'paused') == 1 then
  wake_one()
end
return done(DUEQ_OK)
