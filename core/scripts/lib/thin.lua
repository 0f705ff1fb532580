-- Thins the history out, when it has 60 entries too many: the last 360 minutes stay, and of those before the first of each
-- hour, the last 336.
local length = redis.pcall('LLEN', rates)
if type(length) == 'number' and length >= 756 then
  local old = redis.call('LRANGE', rates, 360, -1)
  redis.call('LTRIM', rates, 0, 359)
  bulk('RPUSH', rates, firsts(old, 336))
end
