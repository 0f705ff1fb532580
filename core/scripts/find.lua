-- find: looks a message up by its id and changes nothing.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] delayed   ZSET  ticket -> due, ms
-- KEYS[3] leased    ZSET  ticket -> end of lease, ms
-- KEYS[4] dead      ZSET  ticket -> when it died, ms
-- KEYS[5] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- ARGV    id
-- Returns nil, or { now ms, state (1 ready, 2 delayed, 3 leased, 4 dead), its time in ms, ticket,
-- envelope, past ('' where there is none) }.
local msg, delayed, leased, dead, past = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include int
-- include ticket
-- include name
-- include envelope
-- include past
-- include place

local id = ARGV[1]
local envelope = redis.call('HGET', msg, id)
if not envelope then
  return nil
end
local text = redis.call('HGET', past, id)
local ticket = current_ticket(id, envelope, text)
local state, time = 1, '0'
for i, set in ipairs({ delayed, leased, dead }) do
  local score = redis.call('ZSCORE', set, ticket)
  if score then
    state, time = i + 1, score
  end
end
return { int(now_ms()), state, int(tonumber(time) or 0), ticket, envelope, text or '' }
