-- Keeps the history: at a session's first call of a minute, before it counts anything, the totals so far are noted. A
-- reserve thins them out (lib/thin.lua); where none does, the last 1056 stay.
if ARGV[3] == '1' then
  -- include totals
  local minute = string.format('%d', math.floor(now / 60000))
  local values, length = redis.pcall('HMGET', meta, 'wire', 'minute', unpack(totals_names)), redis.pcall('LLEN', ready)
  local wire = table.remove(values, 1)
  -- include refuse
  local is_noted = values.err or type(length) == 'table' or table.remove(values, 1) == minute
  -- On a full server it writes nothing: after a first write the server lets a script fill it further.
  if not is_noted and type(redis.pcall('HSET', meta, 'minute', minute)) ~= 'table' then
    redis.pcall('LPUSH', rates, totals(now, length, values))
    redis.pcall('LTRIM', rates, 0, 1055)
  end
end
