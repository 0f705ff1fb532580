-- migrate: moves due jobs of a Laravel queue to its list, and wakes waiting workers.
-- keys jobs later reserved notify quarantine reply
-- includes now job_attempts adjust_tokens seconds keep_foreign_reply
-- ARGV    number, keep, minute, how many of each set at most
-- Returns { now ms, ms until the next job is due (-1: none), jobs moved, payloads quarantined }.

-- A key of another type ends the script here, before any change.
redis.call('LLEN', jobs)
redis.call('ZCARD', later)
redis.call('ZCARD', reserved)
redis.call('LLEN', notify)
redis.call('LLEN', quarantine)
local now = now_ms()
local moved, corrupt = {}, {}
for _, set in ipairs({ later, reserved }) do
  local due = redis.call('ZRANGEBYSCORE', set, '-inf', math.floor(now / 1000), 'LIMIT', 0, ARGV[4])
  if #due > 0 then
    redis.call('ZREMRANGEBYRANK', set, 0, #due - 1)
  end
  for _, payload in ipairs(due) do
    local list = is_sound(payload) and moved or corrupt
    list[#list + 1] = payload
  end
end
if #corrupt > 0 then
  redis.call('RPUSH', quarantine, unpack(corrupt))
end
if #moved > 0 then
  redis.call('RPUSH', jobs, unpack(moved))
  adjust_tokens(notify, #moved)
end
local result = { now, pause_until_due(now, later, reserved), #moved, #corrupt }
return #moved + #corrupt > 0 and keep_foreign_reply(result) or result
