-- rates: shows the history of a queue. Changes nothing.
-- keys msg meta ready rates timings
-- includes now totals hourly_entries decimal refuse_layout
-- args alone: of how many minutes at most (0: of hours), of how many hours at most
-- Returns pairs of texts: totals (lib/totals.lua), and timings (measure.lua). The first pair is of
--   now, since the queue exists. The others have the totals noted at the first call of each minute
--   or hour, and the timings from then on; the latest come first.

-- include refuse_layout
local values, now = redis.call('HMGET', meta, unpack(totals_names)), now_ms()
local answer = {
  totals(now, redis.call('LLEN', ready), values), redis.call('HGET', timings, 'total') or '',
}
local minutes, span, ring = tonumber(ARGV[1]), 60000, 360
local entries = redis.call('LRANGE', rates, 0, minutes - 1)
if minutes == 0 then
  entries, span, ring = hourly_entries(entries, tonumber(ARGV[2])), 3600000, 336
end
local last = math.floor(now / span)
local oldest = tonumber(string.match(entries[#entries] or '', '^%d+') or '') or now
local first, fields = math.max(math.floor(oldest / span), last - ring + 1), {}
for at = first, last do
  fields[#fields + 1] = (span == 60000 and 'm' or 'h') .. at % ring
end
local measured = #fields > 0 and redis.call('HMGET', timings, unpack(fields)) or {}
for _, text in ipairs(entries) do
  -- An entry that is none is left out.
  local time = string.match(text, '^(%d+) ' .. string.rep('%d+ ', 7) .. '%d+$')
  if time and tonumber(time) <= 4102444800000 and not string.find(text, string.rep('%d', 17)) then
    local begun, found = math.floor(time / span), {}
    for at = math.max(begun, first), last do
      local stored = measured[at - first + 1] or ''
      if string.match(stored, '^(%d+) ') == decimal(at) then
        found[#found + 1] = string.sub(stored, #decimal(at) + 2)
      end
    end
    last = math.min(last, begun - 1)
    answer[#answer + 1], answer[#answer + 2] = text, table.concat(found, ' ')
  end
end
return answer
