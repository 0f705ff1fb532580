-- Keeps entries that are no tickets for a person to look at: the last hundred.
local function set_aside(bad, entries)
  redis.call('RPUSH', bad, unpack(entries))
  redis.call('LTRIM', bad, -100, -1)
end
