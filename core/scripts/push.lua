-- push: stores messages whose ids the core made, so that none can be there yet; all due at one time.
-- keys msg ready delayed wake meta reply rates
-- args due ('0' now, '+ms' from now, '@ms' since 1970), then id, envelope of each
-- Returns a digit for each: 0 stored.
-- include wake
-- include event
-- include done
local call, argv, due = redis.call, ARGV, ARGV[4]
local n, now, at = (#argv - 4) / 2, nil, nil
if due ~= '0' or argv[3] == '1' then
  -- include now
  -- include due
  now = now_ms()
  at = due_time(due, now)
end
if argv[3] == '1' then
  -- include history
  note_history(now, true)
end

-- Tickets come first: one without a message is dropped when it is met.
local tickets, pushed = {}, n
if at and at > now then
  local score = string.format('%d', at)
  for i = 1, n do
    tickets[2 * i - 1], tickets[2 * i] = score, argv[2 * i + 3]
  end
  call('ZADD', delayed, unpack(tickets))
  call('HSET', msg, unpack(argv, 5))
  note_event(at, now)
else
  for i = 1, n do
    tickets[i] = argv[2 * i + 3]
  end
  local length = call('RPUSH', ready, unpack(tickets))
  call('HSET', msg, unpack(argv, 5))
  if length == n then
    wake_one(n > 1)
  end
end
redis.pcall('HINCRBY', meta, 'pushed', string.format('%d', n))
return done(string.rep(DUEQ_OK, n))
