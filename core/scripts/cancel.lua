-- cancel: takes messages back from any state. The ticket of a ready one stays in the list and is
-- dropped when it is met without its body; so does what another queue notes of one that moves there.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] delayed   ZSET  ticket -> due, ms
-- KEYS[3] leased    ZSET  ticket -> end of lease, ms
-- KEYS[4] dead      ZSET  ticket -> when it died, ms
-- KEYS[5] info      HASH  next, claims, counters
-- KEYS[6] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[7] outgoing  HASH  id -> due, ms, of messages that move to another queue
-- KEYS[8] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, ids ...
-- Returns one digit for each id: 0 cancelled, 3 there is no such message.
local msg, delayed, leased, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local info, past, outgoing = KEYS[5], KEYS[6], KEYS[7]
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include done

redis.call('ZCARD', delayed)
redis.call('ZCARD', leased)
redis.call('ZCARD', dead)
redis.call('HLEN', past)
local moving = redis.call('HLEN', outgoing) > 0
local outcome, cancelled = {}, 0
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = redis.call('HGET', msg, id)
  if not envelope then
    outcome[#outcome + 1] = DUEQ_NOT_FOUND
  else
    local ticket = current_ticket(id, envelope, redis.call('HGET', past, id))
    redis.call('HDEL', msg, id)
    redis.call('HDEL', past, id)
    for _, set in ipairs({ delayed, leased, dead }) do
      redis.call('ZREM', set, ticket)
    end
    if moving then
      redis.call('HDEL', outgoing, id)
    end
    outcome[#outcome + 1] = DUEQ_OK
    cancelled = cancelled + 1
  end
end
if cancelled > 0 then
  count(info, 'cancelled', cancelled)
end
return done(KEYS[8], table.concat(outcome))
