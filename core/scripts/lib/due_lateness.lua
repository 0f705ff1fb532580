-- needs argv byte call delayed due format n now result tickets
-- Says how late messages are that fell due in this call, if the caller asks: see reserve_timed.lua.
-- How late others are, from the lines of groups, is not known. It measures at most ten.
if n > 0 and byte(argv[6], 6) == 108 then
  local texts = {}
  for i = 1, n do
    texts[i] = '?'
  end
  for place = 1, due and due[1] and n or 0, math.max(1, n / 10) do
    local i = math.floor(place)
    local time = call('ZSCORE', delayed, tickets[i])
    texts[i] = time and format('%d', math.max(0, now - time)) or '?'
  end
  result[2 * n + 8] = format('0 %d ', now) .. table.concat(texts, ' ')
end
