-- rates: the history of a queue; changes nothing.
-- KEYS[1] info   HASH  next, claims, counters
-- KEYS[2] ready  LIST  tickets in delivery order
-- KEYS[3] rates  LIST  the history
-- ARGV    how many entries at most
-- Returns texts "TIME IN PUSHED RESERVED ACKED RETRIED EXPIRED BURIED CANCELLED", all totals: first those
-- of now, then those noted at the first call of each minute, the latest first.
local info, ready, rates = KEYS[1], KEYS[2], KEYS[3]
-- include now

local values = redis.call('HMGET', info, 'pushed', 'reserved', 'acked', 'retried', 'expired', 'buried', 'cancelled', 'skew')
for i = 1, 8 do
  values[i] = tonumber(values[i] or '') or 0
end
local came = redis.call('LLEN', ready) + values[2] + values[8]
local totals = string.format('%d %d %d %d %d %d %d %d %d', now_ms(), came, unpack(values, 1, 7))
local reply = { totals }
for _, text in ipairs(redis.call('LRANGE', rates, 0, ARGV[1] - 1)) do
  -- What is no such entry is left out.
  if #text <= 180 and string.find(text, '^' .. string.rep('%d+ ', 8) .. '%d+$') then
    reply[#reply + 1] = text
  end
end
return reply
