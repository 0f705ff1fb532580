-- defines count; needs meta
-- Raises a counter of `meta`. The script has done its work by then, so a value that is no number
-- must not make it fail.
local function count(name, number)
  if number ~= 0 then
    redis.pcall('HINCRBY', meta, name, number)
  end
end
