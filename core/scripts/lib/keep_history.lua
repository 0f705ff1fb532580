-- needs meta now rates ready; includes bulk hourly_entries totals refuse_wire
-- Notes the totals so far in `rates`, at a session's first call of a minute and before this call
-- counts anything. From 756 entries on, only the last 360 stay, and of those before, the earliest
-- of each hour, at most 336. A user who may not read `rates` leaves that to others; then the last
-- 1056 entries stay.
if ARGV[3] == '1' then
  -- include totals
  local minute = string.format('%d', math.floor(now / 60000))
  local values = redis.pcall('HMGET', meta, 'wire', 'minute', unpack(totals_names))
  local length = redis.pcall('LLEN', ready)
  local wire = table.remove(values, 1)
  -- include refuse_wire
  local is_noted = values.err or type(length) == 'table' or table.remove(values, 1) == minute
  -- On a full server this write fails, and then nothing is noted. It comes first, because after one
  -- write the server lets a script go on.
  if not is_noted and type(redis.pcall('HSET', meta, 'minute', minute)) ~= 'table' then
    local entries = redis.pcall('LPUSH', rates, totals(now, length, values))
    redis.pcall('LTRIM', rates, 0, 1055)
    if type(entries) == 'number' and entries >= 756 then
      local old = redis.pcall('LRANGE', rates, 360, -1)
      if #old > 0 then
        redis.pcall('LTRIM', rates, 0, 359)
        bulk('RPUSH', rates, hourly_entries(old, 336))
      end
    end
  end
end
