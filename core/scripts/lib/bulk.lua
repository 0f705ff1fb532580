-- defines bulk
-- A command with many words; without any there is nothing to do.
local function bulk(command, key, words)
  if #words > 0 then
    redis.call(command, key, unpack(words))
  end
end
