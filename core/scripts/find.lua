-- find: looks a message up by its id and changes nothing.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] delayed  ZSET  ticket -> due, ms
-- KEYS[3] leased   ZSET  ticket -> end of lease, ms
-- KEYS[4] dead     ZSET  ticket -> when it died, ms
-- KEYS[5] past     HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- ARGV    id
-- Returns nil, or { now ms, state (1 ready, 2 delayed, 3 leased, 4 dead), its time in ms, ticket,
-- envelope, last error }.
local msg, delayed, leased, dead, past = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include int
-- include ticket
-- include envelope
-- include past
-- include place

local id = ARGV[1]
local envelope = redis.call('HGET', msg, id)
if not envelope then
  return nil
end
local ticket, story = current_ticket(id, envelope, redis.call('HGET', past, id))
local state, time = 1, '0'
for i, set in ipairs({ delayed, leased, dead }) do
  local score = redis.call('ZSCORE', set, ticket)
  if score then
    state, time = i + 1, score
  end
end
return { int(now_ms()), state, int(tonumber(time)), ticket, envelope, story.text }
