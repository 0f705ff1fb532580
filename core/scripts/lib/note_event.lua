-- defines note_event; needs meta; includes has_timekeeper wake
-- Notes that a message falls due, or a lease ends, at the time `at`. If that is the next event, and
-- no timekeeper looks in time, one waiting consumer wakes, and becomes a timekeeper.
local function note_event(at, now)
  local state = redis.pcall('HMGET', meta, 'next_event', 'timekeepers')
  local first = tonumber(state[1] or '')
  if first and first <= at then
    return
  end
  redis.pcall('HSET', meta, 'next_event', string.format('%d', at))
  if not has_timekeeper(state[2], at, now) then
    wake_one()
  end
end
