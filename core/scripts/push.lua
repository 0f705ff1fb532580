-- push: stores messages, all or (on an error) none.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] wake      ZSET  the wake marker
-- KEYS[4] info      HASH  next, claims, lists, counters
-- KEYS[5] reply     STRING  what the session's last call answered
-- KEYS[6] rates     LIST  the history
-- KEYS[7] high      LIST  those of high priority
-- KEYS[8] low       LIST  those of low priority
-- KEYS[9] delayed   ZSET  ticket -> due, ms
-- KEYS[10] leased    ZSET  ticket -> end of lease, ms
-- KEYS[11] dead      ZSET  ticket -> when it died, ms
-- KEYS[12] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[13] taken     ZSET  id -> until when it is unique, ms
-- FEW     6: with 'now' these are all
-- ARGV    number, keep, minute, then by the form:
--         'now': id, envelope for each message; ids made by the core, all ready at once
--         'any': id, envelope, due, extra for each; due is '0' (now), '+ms' from now or '@ms' since 1970,
--         extra is '' or 'ttl unique existing' (ms; ms; 0 refuse, 1 replace, 2 replace the body)
-- Returns one digit for each message: 0 stored, 2 a living message has this id, or it is still unique.
local msg, ready, wake, info = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- include done
-- include count

local argv = ARGV
if argv[3] == '1' then
  -- include now
  -- include int
  -- include totals
  -- include tally
  tally(info, ready, KEYS[6], now_ms(), true)
end
if argv[4] == 'now' then
  local tickets, n = {}, 0
  for i = 5, #argv, 2 do
    n = n + 1
    tickets[n] = argv[i]
  end
  redis.call('HSET', msg, unpack(argv, 5))
  local length = redis.pcall('RPUSH', ready, unpack(tickets))
  if type(length) == 'table' then
    for i = 5, #argv, 2 do
      redis.call('HDEL', msg, argv[i])
    end
    return length
  end
  if length == n then
    -- include wake
    wake_one(wake, n > 1)
  end
  count(info, 'pushed', string.format('%d', n))
  return done(KEYS[5], string.rep('0', n))
end

-- include now
-- include wake
-- include due
-- include expect
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include line
-- include store
local keys = {
  msg = msg, ready = ready, high = KEYS[7], low = KEYS[8], delayed = KEYS[9], leased = KEYS[10], dead = KEYS[11],
  wake = wake, info = info, past = KEYS[12], taken = KEYS[13],
}
local answer = store(keys, 5, now_ms())
return answer.err and answer or done(KEYS[5], answer)
