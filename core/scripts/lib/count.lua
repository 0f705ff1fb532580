-- defines count; needs meta
-- Counts for statistics; a foreign value under the key is not worth an error after what was done.
local function count(name, number)
  if number ~= 0 then
    redis.pcall('HINCRBY', meta, name, number)
  end
end
