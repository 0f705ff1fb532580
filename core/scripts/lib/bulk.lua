-- defines bulk
-- Runs a command with many words; without words it does nothing.
local function bulk(command, key, words)
  if #words > 0 then
    redis.call(command, key, unpack(words))
  end
end
