-- A claim "at:session" says that a waiting consumer looks again at that time by its own timer. It is
-- stale when its time is over by more than 200 ms: its holder is gone.
-- Is there a claim that looks at the time `at` or before?
local function covered(claims, at, now)
  for text in string.gmatch(claims or '', '(%d+):') do
    local claim = tonumber(text)
    if claim <= at and claim + 200 > now then
      return true
    end
  end
  return false
end

-- Notes that a message falls due, or a lease ends, at the time `at`: if it is the first to come and no
-- waiting consumer looks in time, one is woken to set its timer.
local function expect(info, wake, at, now)
  local state = redis.pcall('HMGET', info, 'next', 'claims')
  local first = tonumber(state[1] or '')
  if first and first <= at then
    return
  end
  redis.pcall('HSET', info, 'next', string.format('%d', at))
  if not covered(state[2], at, now) then
    wake_one(wake)
  end
end
