-- cancel: takes messages back from any state. The ticket of a ready one stays in the list and is
-- dropped when it is met without its body.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] delayed   ZSET  ticket -> due, ms
-- KEYS[3] leased    ZSET  ticket -> end of lease, ms
-- KEYS[4] dead      ZSET  ticket -> when it died, ms
-- KEYS[5] info      HASH  next, claims, counters
-- KEYS[6] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[7] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, ids ...
-- Returns one digit for each id: the state that it was in (1 ready, 2 delayed, 3 leased, 4 dead), or 0: there is
-- no such message.
local msg, delayed, leased, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local info, past = KEYS[5], KEYS[6]
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include done

if #ARGV > 4 then
  -- A foreign value must not stop it between two of them.
  redis.call('ZCARD', delayed)
  redis.call('ZCARD', leased)
  redis.call('ZCARD', dead)
  redis.call('HLEN', past)
end
local states, cancelled = {}, 0
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = redis.call('HGET', msg, id)
  if not envelope then
    states[#states + 1] = 0
  else
    local text = redis.call('HGET', past, id)
    local ticket, state = current_ticket(id, envelope, text), 1
    for i, set in ipairs({ delayed, leased, dead }) do
      if state == 1 and redis.call('ZREM', set, ticket) == 1 then
        state = i + 1
      end
    end
    redis.call('HDEL', msg, id)
    if text then
      redis.call('HDEL', past, id)
    end
    states[#states + 1] = state
    cancelled = cancelled + 1
  end
end
if cancelled > 0 then
  count(info, 'cancelled', cancelled)
end
return done(KEYS[7], table.concat(states))
