-- defines totals_names totals; includes decimal
-- A queue's totals as text: "TIME IN PUSHED RESERVED ACKED RETRIED EXPIRED DIED CANCELLED". IN: how
-- many tickets ever came to `ready`, whose length is given. From the place of its first ticket
-- among them, stats.lua tells about when that ticket came. values: of the fields in `totals_names`.
local totals_names = {
  'pushed', 'reserved', 'acked', 'retried', 'expired', 'died', 'cancelled', 'ready_offset',
}
local function totals(now, length, values)
  local numbers = {}
  for i = 1, #totals_names do
    numbers[i] = tonumber(values[i] or '') or 0
  end
  local texts = { decimal(now), decimal(length + numbers[2] + numbers[8]) }
  for i = 1, 7 do
    texts[i + 2] = decimal(numbers[i])
  end
  return table.concat(texts, ' ')
end
