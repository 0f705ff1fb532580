-- defines served_at; needs served_even served_odd
-- The key that has the counts of deliveries in the minute of this time, in ms.
local function served_at(ms)
  return math.floor(ms / 60000) % 2 == 0 and served_even or served_odd
end
