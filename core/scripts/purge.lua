-- purge: takes messages of one state away, a bounded number at a time.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] leased     ZSET  ticket -> end of lease, ms
-- KEYS[7] dead       ZSET  ticket -> when it died, ms
-- KEYS[8] past       HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] info       HASH  next, claims, counters
-- KEYS[10] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, state (1 ready, 2 delayed, 3 leased, 4 dead), how many at most
-- Returns "messages taken away" or, when more may be there, "messages taken away +".
local keys = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = KEYS[6],
  dead = KEYS[7], past = KEYS[8], info = KEYS[9],
}
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include purge_state
-- include done

local state, most = tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HLEN', keys.msg)
redis.call('HLEN', keys.past)
if state == 1 then
  for _, line in ipairs({ keys.high, keys.ready, keys.low }) do
    redis.call('LLEN', line)
  end
end
local purged, met = purge_state(keys, state, most)
local more = met == most and ' +' or ''
return done(KEYS[10], string.format('%d', purged) .. more)
