-- extend: sets the ends of leases anew.
-- KEYS[1] leased  ZSET  ticket -> end of lease, ms
-- KEYS[2] wake    ZSET  the wake marker
-- KEYS[3] info    HASH  next, claims, counters
-- KEYS[4] reply   STRING  what the session's last call answered
-- ARGV    number, keep, minute, then ticket and lease in ms from now of each
-- Returns one digit for each: 0 done, 4 the lease was lost.
local leased, wake, info = KEYS[1], KEYS[2], KEYS[3]
-- include now
-- include wake
-- include expect
-- include held
-- include done

redis.call('HLEN', info)
local now = now_ms()
local outcome, first = {}, nil
for i = 4, #ARGV, 2 do
  local ticket, stop = ARGV[i], now + ARGV[i + 1]
  local ours = held(leased, ticket, now)
  outcome[#outcome + 1] = ours and DUEQ_OK or DUEQ_LEASE_LOST
  if ours then
    -- Removed and added, not changed in place: a full server refuses a script whose first write may grow.
    redis.call('ZREM', leased, ticket)
    redis.call('ZADD', leased, string.format('%d', stop), ticket)
    first = math.min(first or stop, stop)
  end
end
if first then
  expect(info, wake, first, now)
end
return done(KEYS[4], table.concat(outcome))
