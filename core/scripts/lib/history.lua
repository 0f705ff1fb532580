-- Keeps the history: at the first call in a minute, before it counts anything, the totals so far are
-- noted; the last 360 of them. A queue is not made by it: `first` where the call is a push.
local function note_history(now, first)
  local minute = string.format('%d', math.floor(now / 60000))
  local values = redis.pcall('HMGET', meta, 'minute', unpack(totals_names))
  local length = redis.pcall('LLEN', ready)
  if values.err or type(length) == 'table' or table.remove(values, 1) == minute or not (values[1] or first) then
    return
  end
  -- On a full server it writes nothing: after a first write the server lets a script fill it further.
  if type(redis.pcall('HSET', meta, 'minute', minute)) == 'table' then
    return
  end
  redis.pcall('LPUSH', rates, totals(now, length, values))
  redis.pcall('LTRIM', rates, 0, 359)
end
