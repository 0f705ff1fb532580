-- Runs the source of a script that slot_migration.py puts into the function script below, with a
-- clock that stands still. Notes each command. An error that ends the script is an answer.
-- ARGV     behind the script's own: seconds and microseconds of the clock; '1' to ask after each
--          command whether the command's keys exist
-- Returns { 1, the script's answer, notes } or { 0, the script's error, notes }. A note is a text:
--          the command's name, 1 if it did anything, else 0, and for each of its keys the key's
--          place in KEYS and 1 if the key exists, else 0 (always 0 where nobody asked).
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
    -- The rest of a time to live differs from run to run.
    return name == 'PTTL' and type(answer) == 'number' and math.min(answer, 1000) or answer
  end
end

local function script()
  local commands = { call = telling(server.call), pcall = telling(server.pcall) }
  local redis = setmetatable(commands, { __index = server })
-- script
end

local fine, answer = pcall(script)
if not fine then
  answer = type(answer) == 'table' and answer.err or tostring(answer)
end
return { fine and 1 or 0, answer or false, told }
