-- defines removal defer_removal defer_forget run_removals; needs attempts msg
-- A script removes entries at its end, with one command for each key: a key that the script still
-- needs must not become empty before. Messages go before their tickets: a reserve drops a ticket
-- without a message.
local goes = {}
-- The words of the command that removes members of a key.
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
