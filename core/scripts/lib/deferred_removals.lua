-- defines removal defer_removal defer_forget run_removals; needs attempts msg
-- What a call takes away it takes at its end, by one command for each key: so no key that it needs
-- vanishes before.
-- Messages go before their tickets, of which one without a message is dropped when it is met.
local goes = {}
-- The words of the command that takes members of a key away.
local function removal(command, key)
  local words = goes[key]
  if not words then
    words = { command, key }
    goes[key] = words
    table.insert(goes, command == 'HDEL' and 1 or #goes + 1, words)
  end
  return words
end

local function defer_removal(command, key, member)
  local words = removal(command, key)
  words[#words + 1] = member
end

local function defer_forget(id)
  defer_removal('HDEL', attempts, id)
  defer_removal('HDEL', msg, id)
end

local function run_removals()
  for _, words in ipairs(goes) do
    redis.call(unpack(words))
  end
end
