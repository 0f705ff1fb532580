-- defines places_begin places_end; needs leased limits; includes limits
-- How a reserve from a queue with limits keeps to them. `leased` has at most as many tickets as the
-- concurrency says. A lease that has ended keeps its place until its message is given again.

-- limit: what limits_read() returned; freed: how many tickets of `leased` this call settles; ended:
-- the leases that have ended, by lane; us: the server's clock in microseconds.
-- Returns how many messages this call may deliver, the ended leases that it may give again, and how
--   many places of `leased` are free.
local function places_begin(limit, most, freed, ended, us)
  local number = 0
  for _, leases in pairs(ended) do
    number = number + #leases
  end
  local taken = redis.call('ZCARD', leased) - freed
  local allowed = rate_left(limit, us)
  limit.us, limit.waiting = us, 0
  limit.is_new = math.abs(us / 1000 - limit.since) < 65000
  if number > 0 and (allowed == 0 or taken - number >= limit.concurrency) then
    limit.waiting, ended = number, {}
  end
  return math.min(most, allowed), ended, limit.concurrency - taken
end

-- Counts what is delivered against the rate. n: how many messages; left: how many wait; places: how
-- many places are free behind this call.
-- Returns how many of those that wait may be delivered now; whether they wait for a place; and from
--   when on the rate allows the next one, in ms (nil: they do not wait for that).
local function places_end(limit, n, left, places)
  local waiting, at = left + limit.waiting, nil
  if limit.interval and (n > 0 or limit.next ~= limit.noted) then
    limit.next = n > 0 and math.max(limit.next, limit.us) + n * limit.interval or limit.next
    redis.call('HSET', limits, 'next', string.format('%.3f', limit.next))
  end
  local allowed, next_at = rate_left(limit, limit.us)
  local held = waiting > 0 and places <= 0
  if waiting > 0 and allowed == 0 then
    at = next_at
  end
  return math.max(0, math.min(waiting, places, allowed)), held, at
end
