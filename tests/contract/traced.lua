-- Stands around the source of a script, for slot_migration.py: its clock stands still, it is told what it
-- does with its
-- keys, and an error that ends it is an answer.
-- ARGV     behind the script's own: seconds and micros of the clock, '1' to look after each command
-- which of the
--          keys that it names are there
-- Returns { 1 and its answer, or 0 and its error; of each command its name, '1' if it did anything,
-- and its keys:
--          place, '1' there, ... }
local server, looks = redis, table.remove(ARGV) == '1'
local micros, seconds = table.remove(ARGV), table.remove(ARGV)
local places, told = {}, {}
for place, key in ipairs(KEYS) do
  places[key] = place
end

local function telling(call)
  return function(name, ...)
    if name == 'TIME' then
      return { seconds, micros }
    end
    local fine, answer = pcall(call, name, ...)
    local nothing = not answer or answer == 0 or type(answer) == 'table' and not next(answer)
    local words = { name, nothing and 0 or 1 }
    for i = 1, math.min(#KEYS + 2, select('#', ...)) do
      local key = select(i, ...)
      if places[key] then
        words[#words + 1] = places[key]
        words[#words + 1] = looks and server.call('EXISTS', key) or 0
      end
    end
    told[#told + 1] = table.concat(words, ' ')
    if not fine then
      error(answer, 0)
    end
    -- How much of a time is left differs from run to run.
    return name == 'PTTL' and type(answer) == 'number' and math.min(answer, 1000) or answer
  end
end

local function script()
  local redis = setmetatable({ call = telling(server.call), pcall = telling(server.pcall) }, { __index = server })
-- script
end

local fine, answer = pcall(script)
if not fine then
  answer = type(answer) == 'table' and answer.err or tostring(answer)
end
return { fine and 1 or 0, answer or false, told }
