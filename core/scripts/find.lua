-- find: looks a message up by its id and changes nothing.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] delayed  ZSET  ticket -> due, ms
-- KEYS[3] leased   ZSET  ticket -> end of lease, ms
-- KEYS[4] dead     ZSET  ticket -> when it died, ms
-- KEYS[5] past     HASH  id -> attempts, crashes, last error
-- ARGV    id
-- Returns nil, or { now ms, state (1 ready, 2 delayed, 3 leased, 4 dead), its time in ms, ticket,
-- envelope, attempts so far, last error }.
local msg, delayed, leased, dead, past = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include int
-- include ticket
-- include envelope
-- include past

local id = ARGV[1]
local envelope = redis.call('HGET', msg, id)
if not envelope then
  return nil
end
local _, stamp = envelope_read(envelope)
local attempts, _, text = past_read(redis.call('HGET', past, id))
local ticket = ticket_write(attempts, id, stamp)
local state, time = 1, '0'
local held = ticket_write(attempts + 1, id, stamp)
for _, place in ipairs({ { 2, delayed, ticket }, { 3, leased, held }, { 4, dead, ticket } }) do
  local score = redis.call('ZSCORE', place[2], place[3])
  if score then
    state, time, ticket = place[1], score, place[3]
  end
end
if state == 3 then
  attempts = attempts + 1
end
return { int(now_ms()), state, int(tonumber(time)), ticket, envelope, attempts, text }
