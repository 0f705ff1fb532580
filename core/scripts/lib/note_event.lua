-- defines note_event; needs meta; includes has_timekeeper wake_at
-- Notes that a message falls due, or a lease ends, at the time `at`. If that is the next event, and
-- no timekeeper looks in time, one waiting consumer wakes, and becomes a timekeeper.
local function note_event(at, now)
  local state = redis.pcall('HMGET', meta, 'next_event', 'timekeepers')
  local first, event = tonumber(state[1] or ''), string.format('%d', at)
  if first and first <= at then
    return
  end
  if has_timekeeper(state[2], at, now) then
    redis.pcall('HSET', meta, 'next_event', event)
  else
    redis.pcall('HSET', meta, 'next_event', event, 'timekeepers', wake_at(event, state[2] or ''))
  end
end
