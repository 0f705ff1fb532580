-- migrate: moves jobs of a queue of Laravel's that are due to the list, and tells workers that wait.
-- KEYS[1] jobs      LIST  payloads
-- KEYS[2] later     ZSET  payload -> due, seconds
-- KEYS[3] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[4] notify    LIST  a token for each job in the list
-- KEYS[5] aside     LIST  payloads that a worker of Laravel's would lose
-- KEYS[6] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, how many of each set
-- Returns { now ms, ms until the next is due (-1: none), jobs moved, payloads set aside }.
local jobs, later, reserved, notify, aside = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- include now
-- include seconds
-- include job_attempts
-- include notify
-- include noted

redis.call('LLEN', jobs)
redis.call('ZCARD', later)
redis.call('ZCARD', reserved)
redis.call('LLEN', notify)
redis.call('LLEN', aside)
local now = now_ms()
local moved, damaged = {}, {}
for _, set in ipairs({ later, reserved }) do
  local due = redis.call('ZRANGEBYSCORE', set, '-inf', math.floor(now / 1000), 'LIMIT', 0, ARGV[4])
  if #due > 0 then
    redis.call('ZREMRANGEBYRANK', set, 0, #due - 1)
  end
  for _, payload in ipairs(due) do
    local list = is_sound(payload) and moved or damaged
    list[#list + 1] = payload
  end
end
if #damaged > 0 then
  redis.call('RPUSH', aside, unpack(damaged))
end
if #moved > 0 then
  redis.call('RPUSH', jobs, unpack(moved))
  notify_by(notify, #moved)
end
local reply = { now, pause_until_due(now, later, reserved), #moved, #damaged }
return #moved + #damaged > 0 and noted(KEYS[6], reply) or reply
