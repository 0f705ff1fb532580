-- kick: gives dead messages back to be delivered at once, with as many attempts again.
-- KEYS[1] msg    HASH  id -> envelope
-- KEYS[2] ready  LIST  tickets in delivery order
-- KEYS[3] high   LIST  those of high priority
-- KEYS[4] low    LIST  those of low priority
-- KEYS[5] dead   ZSET  ticket -> when it died, ms
-- KEYS[6] wake   ZSET  the wake marker
-- KEYS[7] info   HASH  next, claims, lists, counters
-- KEYS[8] past   HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] reply  STRING  what the session's last call answered
-- ARGV    number, keep, minute, ids ...
-- Returns one digit for each id: 0 it is ready, 3 there is no such dead message.
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include line
-- include wake
-- include done
-- include revive

local keys = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], dead = KEYS[5], wake = KEYS[6], info = KEYS[7],
  past = KEYS[8],
}
line_check(keys)
redis.call('HLEN', keys.past)
local outcome, back = {}, {}
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = redis.call('HGET', keys.msg, id)
  local done_so = envelope and revive(keys, id, envelope, back)
  outcome[i - 3] = done_so and DUEQ_OK or DUEQ_NOT_FOUND
end
if #back > 0 and line_up(keys, back) then
  wake_one(keys.wake)
end
return done(KEYS[9], table.concat(outcome))
