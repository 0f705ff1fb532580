-- rates: the history of a queue; changes nothing.
-- KEYS[1] info   HASH  next, claims, counters
-- KEYS[2] ready  LIST  tickets in delivery order
-- KEYS[3] rates  LIST  the history
-- ARGV    how many entries at most
-- Returns texts "TIME IN PUSHED RESERVED ACKED RETRIED EXPIRED BURIED CANCELLED", all totals: first those
-- of now, then those noted at the first call of each minute, the latest first.
local info, ready, rates = KEYS[1], KEYS[2], KEYS[3]
-- include now
-- include int
-- include totals

local values = redis.call('HMGET', info, unpack(totals_names))
local reply = { totals(now_ms(), redis.call('LLEN', ready), values) }
for _, text in ipairs(redis.call('LRANGE', rates, 0, ARGV[1] - 1)) do
  -- What is no such entry is left out.
  local time = string.match(text, '^(%d+) ' .. string.rep('%d+ ', 7) .. '%d+$')
  if time and tonumber(time) <= 4102444800000 and not string.find(text, string.rep('%d', 17)) then
    reply[#reply + 1] = text
  end
end
return reply
