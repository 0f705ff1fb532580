-- resume: ends a pause, and wakes a waiting consumer.
-- KEYS[1] wake   ZSET  the wake marker
-- KEYS[2] info   HASH  next, claims, paused, counters
-- KEYS[3] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute
-- Returns a digit: 0 it is not paused.
-- The time 0 stays noted: the next reserve moves what fell due meanwhile, and notes the time anew.
local wake, info = KEYS[1], KEYS[2]
-- include wake
-- include done

if redis.call('HDEL', info, 'paused') == 1 then
  wake_one(wake)
end
return done(KEYS[3], DUEQ_OK)
