-- Counts for statistics; a foreign value under the key is not worth an error after what was done.
local function count(info, name, number)
  redis.pcall('HINCRBY', info, name, number)
end
