-- defines lateness; needs delayed meta rates; includes decimal
-- How late messages are, as text: see reserve_timed.lua. It measures at most ten tickets, which are
-- spread evenly. The tickets of delayed messages are still in `delayed`. head: its first entry,
-- ticket and time; nil: not known.
local function lateness(tickets, now, head)
  local texts, in_lane = {}, false
  for i = 1, #tickets do
    texts[i] = '?'
  end
  for place = 1, #tickets, math.max(1, #tickets / 10) do
    local i = math.floor(place)
    local is_head = head and head[1] == tickets[i]
    local time = tonumber(is_head and head[2] or redis.pcall('ZSCORE', delayed, tickets[i]))
    if time then
      texts[i] = decimal(now - time)
    elseif not string.find(tickets[i], '^%d+%.!?%w*[hl]:') then
      texts[i], in_lane = '-', true
    end
  end
  local mark, stop, from = 0, now, in_lane and 0 or 360
  local state = in_lane and redis.call('HMGET', meta, 'reserved', 'ready_offset') or {}
  local came = (tonumber(state[1] or '') or 0) + (tonumber(state[2] or '') or 0)
  while from < 360 do
    -- A message seldom waits for minutes: ten entries at a time are enough.
    local entries = redis.pcall('LRANGE', rates, from, from + 9)
    from = #entries == 10 and from + 10 or 360
    for _, text in ipairs(entries) do
      local time, before = string.match(text, '^(%d+) (%d+) ')
      if time and tonumber(before) <= came then
        mark, from = tonumber(time), 360
        break
      end
      stop = tonumber(time) or stop
    end
  end
  return table.concat({ decimal(mark), decimal(stop), unpack(texts) }, ' ')
end
