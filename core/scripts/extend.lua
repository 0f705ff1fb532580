-- extend: sets the end of a lease anew.
-- KEYS[1] leased  ZSET  ticket -> end of lease, ms
-- KEYS[2] wake    ZSET  the wake marker
-- KEYS[3] info    HASH  next, claims, counters
-- KEYS[4] calls   HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ticket, lease in ms from now
-- Returns a digit: 0 done, 4 the lease was lost.
local leased, wake, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- include now
-- include wake
-- include expect
-- include held
-- include done

redis.call('HLEN', info)
local now = now_ms()
local stop = now + ARGV[5]
if not held(leased, ARGV[4], now) then
  return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_LEASE_LOST)
end
-- Removed and added, not changed in place: a full server refuses a script whose first write may grow.
redis.call('ZREM', leased, ARGV[4])
redis.call('ZADD', leased, string.format('%d', stop), ARGV[4])
expect(info, wake, stop, now)
return done(calls, ARGV[1], ARGV[2], ARGV[3], DUEQ_OK)
