-- What a call takes away it takes at its end, by one command for each key: so no key that it needs vanishes before.
-- Messages go before their tickets, of which one without a message is dropped when it is met.
local goes = {}
local function gone(command, key, member)
  local words = goes[key]
  if not words then
    words = { command, key }
    goes[key], goes[#goes + 1] = words, words
  end
  words[#words + 1] = member
end

local function forget(id)
  gone('HDEL', attempts, id)
  gone('HDEL', msg, id)
end

local function remove_gone()
  for _, command in ipairs({ 'HDEL', 'ZREM' }) do
    for _, words in ipairs(goes) do
      if words[1] == command then
        redis.call(unpack(words))
      end
    end
  end
end
