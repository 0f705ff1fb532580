-- pop: moves due jobs of a Laravel queue to its list, then takes jobs from the list and reserves
-- them.
-- keys jobs later reserved notify quarantine reply
-- includes now adjust_tokens seconds job_attempts add_padded keep_foreign_reply
-- ARGV    number, keep, minute, how many (0: nobody reads the answer of the call `number`, so the
--         jobs that it took go back unchanged), how long to reserve them in ms, '1' if the caller
--         took a token
-- Returns { now ms, ms until the next job is due (-1: none), payloads quarantined, end of the
--         reservations in ms, then for each job: its reserved payload, the offset of its attempts,
--         what was there before, and how many blanks at its end tell it from equal payloads }.

-- A key of another type ends the script here, before any change.
redis.call('LLEN', jobs)
redis.call('ZCARD', later)
redis.call('ZCARD', reserved)
redis.call('LLEN', notify)
redis.call('LLEN', quarantine)
local now, count = now_ms(), tonumber(ARGV[4])
if count == 0 then
  local number, answer = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
  local tokens = ARGV[6] == '1' and 1 or 0
  local given = number == ARGV[1] and cmsgpack.unpack(answer) or {}
  for i = #given - 3, 5, -4 do
    local reserved_payload, place, was, blanks = unpack(given, i, i + 3)
    if redis.call('ZREM', reserved, reserved_payload) == 1 then
      local rest = string.match(reserved_payload, '^[%d.e+-]+()', place + 1)
      local begin = string.sub(reserved_payload, 1, place)
      local stop = string.sub(reserved_payload, rest, #reserved_payload - blanks)
      redis.call('LPUSH', jobs, begin .. was .. stop)
      tokens = tokens + 1
    end
  end
  redis.call('DEL', reply)
  adjust_tokens(notify, tokens)
  return { now, -1, 0, 0 }
end

local most = count + 100

local moved = 0
for _, set in ipairs({ later, reserved }) do
  local due = redis.call('ZRANGEBYSCORE', set, '-inf', math.floor(now / 1000), 'LIMIT', 0, most)
  if #due > 0 then
    redis.call('ZREMRANGEBYRANK', set, 0, #due - 1)
    redis.call('RPUSH', jobs, unpack(due))
    moved = moved + #due
  end
end

local stop = second_of(now + ARGV[5])
local result, taken, corrupt = { now, 0, 0, stop * 1000 }, 0, 0
while taken < count and taken + corrupt < most do
  local payload = redis.call('LPOP', jobs)
  if not payload then
    break
  end
  local raised, place, was = attempts_raised(payload)
  if raised then
    local reserved_payload = add_padded(reserved, stop, raised)
    for _, word in ipairs({ reserved_payload, place, was, #reserved_payload - #raised }) do
      result[#result + 1] = word
    end
    taken = taken + 1
  else
    redis.call('RPUSH', quarantine, payload)
    corrupt = corrupt + 1
  end
end
result[3] = corrupt
-- If the caller took a token, it was the token of one job that it takes here.
local popped = taken + corrupt
adjust_tokens(notify, moved - (ARGV[6] == '1' and math.max(0, popped - 1) or popped))
if taken > 0 then
  return keep_foreign_reply(result)
end
if redis.call('LLEN', jobs) == 0 then
  result[2] = pause_until_due(now, later, reserved)
end
return result
