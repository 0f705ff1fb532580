-- defines totals_names totals; includes decimal
-- What a queue did so far, as text: "TIME IN PUSHED RESERVED ACKED RETRIED EXPIRED DIED CANCELLED".
-- "In"
-- is how many tickets ever came to `ready`, whose length is given: the place of its head among them
-- tells
-- about when that came (see stats.lua). `values` are those of the fields in `totals_names`.
local totals_names = { 'pushed', 'reserved', 'acked', 'retried', 'expired', 'died', 'cancelled', 'ready_offset' }
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
