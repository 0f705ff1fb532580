-- kick: gives dead messages back to be delivered at once, with as many attempts again.
-- KEYS[1] msg    HASH  id -> envelope
-- KEYS[2] ready  LIST  tickets in delivery order
-- KEYS[3] dead   ZSET  ticket -> when it died, ms
-- KEYS[4] wake   ZSET  the wake marker
-- KEYS[5] past   HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[6] calls  HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, ids ...
-- Returns one digit for each id: 0 it is ready, 3 there is no such dead message.
local msg, ready, dead, wake, past, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
-- include ticket
-- include envelope
-- include past
-- include place
-- include wake
-- include done

redis.call('LLEN', ready)
redis.call('ZCARD', dead)
redis.call('HLEN', past)
local outcome, back, pasts = {}, {}, {}
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = redis.call('HGET', msg, id)
  local ticket, story
  if envelope then
    ticket, story = current_ticket(id, envelope, redis.call('HGET', past, id))
  end
  outcome[i - 3] = DUEQ_NOT_FOUND
  if ticket and redis.call('ZREM', dead, ticket) == 1 then
    outcome[i - 3] = DUEQ_OK
    back[#back + 1] = ticket
    story.forgiven = story.before
    pasts[#pasts + 1] = id
    pasts[#pasts + 1] = past_write(story)
  end
end
if #back > 0 then
  redis.call('HSET', past, unpack(pasts))
  if redis.call('RPUSH', ready, unpack(back)) == #back then
    wake_one(wake)
  end
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], table.concat(outcome))
