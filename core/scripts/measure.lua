-- measure: adds what a consumer measured to the totals, and to the sums of the minute and the hour.
-- The last 360 minutes and 336 hours are kept.
-- keys meta timings
-- includes now decimal refuse_newer
-- args alone: "NAME:NUMBER NAME:NUMBER ...". NAME: 'l' (lateness) or 'r' (run time) and the number
--   of a bucket; or the letter alone, for the sum in ms.
-- Returns 1; 0: there is no such queue.

-- include refuse_newer
if redis.call('EXISTS', meta) == 0 then
  return 0
end
local now, words = now_ms(), {}
local minute, hour = math.floor(now / 60000), math.floor(now / 3600000)
local starts = { '', decimal(minute) .. ' ', decimal(hour) .. ' ' }
local fields = { 'total', 'm' .. minute % 360, 'h' .. hour % 336 }
local stored = redis.call('HMGET', timings, unpack(fields))
for i, start in ipairs(starts) do
  -- A minute or an hour of the last round has ended, and its sums are replaced.
  local old = stored[i] or ''
  old = string.sub(old, 1, #start) == start and string.sub(old, #start + 1) or ''
  local before = #old
  old = old .. ' ' .. ARGV[1]
  -- Adding a text costs less than summing, and readers sum. So the script sums only once in 600
  -- bytes of new text; the sum may be long itself.
  if math.floor(#old / 600) > math.floor(before / 600) then
    local sums, names, texts = {}, {}, {}
    for name, number in string.gmatch(old, '([lr]%d*):(%d+)') do
      if not sums[name] then
        names[#names + 1], sums[name] = name, 0
      end
      sums[name] = sums[name] + tonumber(number)
    end
    for k, name in ipairs(names) do
      texts[k] = name .. ':' .. decimal(sums[name])
    end
    old = table.concat(texts, ' ')
  end
  words[2 * i - 1], words[2 * i] = fields[i], start .. old
end
redis.call('HSET', timings, unpack(words))
return 1
