-- What a call takes away it takes at its end, by one command for each key: so no key that it needs vanishes before.
-- Messages go before their tickets, of which one without a message is dropped when it is met.
local goes = {}
-- The words of the command that takes members of a key away.
local function going(command, key)
  local words = goes[key]
  if not words then
    words = { command, key }
    goes[key] = words
    table.insert(goes, command == 'HDEL' and 1 or #goes + 1, words)
  end
  return words
end

local function gone(command, key, member)
  local words = going(command, key)
  words[#words + 1] = member
end

local function forget(id)
  gone('HDEL', attempts, id)
  gone('HDEL', msg, id)
end

local function remove_gone()
  for _, words in ipairs(goes) do
    redis.call(unpack(words))
  end
end
