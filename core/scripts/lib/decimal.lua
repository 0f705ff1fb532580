-- defines decimal
-- A number as decimal text: '..' and tostring() keep 14 digits only. A foreign score (inf) is
-- clamped.
local function decimal(number)
  return string.format('%d', math.max(0, math.min(number, 9007199254740991)))
end
