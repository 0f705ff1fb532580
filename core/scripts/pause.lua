-- pause: the queue hands nothing out until it is resumed; it takes pushes and acks as ever.
-- KEYS[1] info   HASH  next, claims, paused, counters
-- KEYS[2] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute
-- Returns a digit: 0 it is paused.
-- The time 0 is noted as the next to come: so every reserve looks closer, and sees the pause.
local info = KEYS[1]
-- include done

redis.call('HSET', info, 'paused', '1', 'next', '0')
return done(KEYS[2], DUEQ_OK)
