-- The payloads in a key of Laravel, with an X for each value that differs from run to run: uuid,
-- createdAt, id.
-- ARGV[1] the key, a list or a sorted set
local sorted = redis.call('TYPE', ARGV[1]).ok == 'zset'
local found = redis.call(sorted and 'ZRANGE' or 'LRANGE', ARGV[1], 0, -1)
for i, payload in ipairs(found) do
  local hex = '%x%x%x%x'
  local uuid = hex .. hex .. '%-' .. hex .. '%-4%x%x%x%-[89ab]%x%x%x%-' .. hex .. hex .. hex
  payload = string.gsub(payload, '"uuid":"' .. uuid .. '"', '"uuid":"X"')
  payload = string.gsub(payload, '"id":"' .. string.rep('%w', 32) .. '"', '"id":"X"')
  found[i] = string.gsub(payload, '"createdAt":' .. string.rep('%d', 10), '"createdAt":X')
end
return found
