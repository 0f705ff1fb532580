-- remove: takes a queue away, a bounded part of it at a time: first its messages, each as a whole, then what else
-- it had. What is pushed meanwhile is removed by a later step, or stays as a whole.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] leased     ZSET  ticket -> end of lease, ms
-- KEYS[7] dead       ZSET  ticket -> when it died, ms
-- KEYS[8] past       HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] info       HASH  next, claims, counters
-- KEYS[10] taken     ZSET  id -> until when it is unique, ms
-- KEYS[11] wake      ZSET  wake markers
-- KEYS[12] bad       LIST  entries that were no tickets
-- KEYS[13] rates     LIST  the history
-- KEYS[14] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, how many messages at most
-- Returns "messages taken away" or, when there is more to do, "messages taken away +".
local keys = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], delayed = KEYS[5], leased = KEYS[6],
  dead = KEYS[7], past = KEYS[8], info = KEYS[9],
}
local taken, wake, bad, rates = KEYS[10], KEYS[11], KEYS[12], KEYS[13]
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include purge_state
-- include done

local PART = 1000 -- of what is no message, in one step

for _, hash in ipairs({ keys.msg, keys.past, keys.info }) do
  redis.call('HLEN', hash)
end
for _, list in ipairs({ keys.ready, keys.high, keys.low, bad, rates }) do
  redis.call('LLEN', list)
end
for _, set in ipairs({ keys.delayed, keys.leased, keys.dead, taken, wake }) do
  redis.call('ZCARD', set)
end

-- Takes so many fields out of a hash. Returns how many they were, and whether there are more.
local function shrink(hash, most)
  local fields = redis.call('HRANDFIELD', hash, most)
  if #fields > 0 then
    redis.call('HDEL', hash, unpack(fields))
  end
  return #fields, redis.call('HLEN', hash) > 0
end

local removed, left = 0, tonumber(ARGV[4])
for state = 1, 4 do
  if left > 0 then
    local purged, met = purge_state(keys, state, left)
    removed, left = removed + purged, left - met
  end
end
local more = left == 0
if not more then
  -- There is no ticket any more, so these messages had none.
  local lost, others = shrink(keys.msg, left)
  local _, pasts = shrink(keys.past, PART)
  redis.call('ZREMRANGEBYRANK', taken, 0, PART - 1)
  redis.call('DEL', bad, rates)
  removed = removed + lost
  more = others or pasts or redis.call('ZCARD', taken) > 0
  if not more then
    redis.call('DEL', keys.info, wake)
  end
end
return done(KEYS[14], string.format('%d', removed) .. (more and ' +' or ''))
