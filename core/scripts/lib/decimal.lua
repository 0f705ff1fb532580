-- defines decimal
-- A number as decimal text. '..' and tostring() keep only 14 digits. inf, which a foreign score may
-- be, becomes the largest exact number.
local function decimal(number)
  return string.format('%d', math.max(0, math.min(number, 9007199254740991)))
end
