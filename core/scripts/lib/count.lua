-- Counts for statistics; a foreign value under the key is not worth an error after what was done.
local function count(name, number)
  redis.pcall('HINCRBY', meta, name, number)
end
