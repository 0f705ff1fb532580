-- push: stores messages, all or (on an error) none.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] wake     ZSET  the wake marker
-- KEYS[5] info     HASH  next, claims, counters
-- KEYS[6] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, then by the form:
--         'now': id, envelope for each message; ids made by the core, all ready at once
--         'any': id, envelope, due for each; due is '0' (now), '+ms' from now or '@ms' since 1970
-- Returns one digit for each message: 0 stored, 2 a living message has this id.
local msg, ready, delayed, wake, info, calls = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
-- include wake
-- include done

local argv = ARGV
if argv[4] == 'now' then
  local tickets, n = {}, 0
  for i = 5, #argv, 2 do
    n = n + 1
    tickets[n] = argv[i]
  end
  redis.call('HSET', msg, unpack(argv, 5))
  local length = redis.pcall('RPUSH', ready, unpack(tickets))
  if type(length) == 'table' then
    for i = 5, #argv, 2 do
      redis.call('HDEL', msg, argv[i])
    end
    return length
  end
  if length == n then
    wake_one(wake)
  end
  return done(calls, ARGV[1], ARGV[2], ARGV[3], string.rep('0', n))
end

-- include now
-- include due
-- include expect
redis.call('HLEN', info)
local now, outcome, stored, at_once, later, first = now_ms(), {}, {}, {}, {}, nil
for i = 5, #ARGV, 3 do
  local id, envelope, due = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('HSETNX', msg, id, envelope) == 0 then
    outcome[#outcome + 1] = DUEQ_DUPLICATE
  else
    outcome[#outcome + 1] = DUEQ_OK
    stored[#stored + 1] = id
    local ticket = id
    if string.byte(envelope, 2) % 2 == 1 then
      ticket = '0.' .. string.sub(envelope, 5, 14) .. ':' .. id
    end
    local at = due_time(due, now)
    if at <= now then
      at_once[#at_once + 1] = ticket
    else
      later[#later + 1] = string.format('%d', at)
      later[#later + 1] = ticket
      if not first or at < first then
        first = at
      end
    end
  end
end

if first then
  local added = redis.pcall('ZADD', delayed, unpack(later))
  if type(added) == 'table' then
    redis.call('HDEL', msg, unpack(stored))
    return added
  end
end
if #at_once > 0 then
  local length = redis.pcall('RPUSH', ready, unpack(at_once))
  if type(length) == 'table' then
    redis.call('HDEL', msg, unpack(stored))
    for i = 2, #later, 2 do
      redis.call('ZREM', delayed, later[i])
    end
    return length
  end
  if length == #at_once then
    wake_one(wake)
  end
end
if first then
  expect(info, wake, first, now)
end
return done(calls, ARGV[1], ARGV[2], ARGV[3], table.concat(outcome))
