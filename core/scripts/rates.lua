-- rates: the history of a queue; changes nothing.
-- keys meta ready rates
-- args alone: how many entries at most
-- Returns texts "TIME IN PUSHED RESERVED ACKED RETRIED EXPIRED DIED CANCELLED", all totals: first those
-- of now, then those noted at the first call of each minute, the latest first.

-- include known
local values = redis.call('HMGET', meta, unpack(totals_names))
local answer = { totals(now_ms(), redis.call('LLEN', ready), values) }
for _, text in ipairs(redis.call('LRANGE', rates, 0, ARGV[1] - 1)) do
  -- What is no such entry is left out.
  local time = string.match(text, '^(%d+) ' .. string.rep('%d+ ', 7) .. '%d+$')
  if time and tonumber(time) <= 4102444800000 and not string.find(text, string.rep('%d', 17)) then
    answer[#answer + 1] = text
  end
end
return answer
