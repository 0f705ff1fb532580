-- defines precheck
-- Reads keys, by command, before a script writes: where one is foreign the script ends here, and
-- has changed nothing.
local function precheck(keys)
  for command, names in pairs(keys) do
    for _, name in ipairs(names) do
      redis.call(command, name)
    end
  end
end
