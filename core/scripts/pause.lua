-- pause: the queue hands nothing out until it is resumed; it takes pushes and acks as ever.
-- KEYS[1] info   HASH  next, claims, paused, counters
-- KEYS[2] calls  HASH  session -> its last call and answer
-- ARGV    session, call number, fresh
-- Returns a digit: 0 it is paused.
-- The time 0 is noted as the next to come: so every reserve looks closer, and sees the pause.
local info, calls = KEYS[1], KEYS[2]
-- include done

redis.call('HSET', info, 'paused', '1', 'next', '0')
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
