-- defines precheck
-- Reads keys before the script writes, by command. If a key has another type, the script ends here,
-- and has changed nothing.
local function precheck(keys)
  for command, names in pairs(keys) do
    for _, name in ipairs(names) do
      redis.call(command, name)
    end
  end
end
