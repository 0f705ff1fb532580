-- defines find_in_set; includes message
-- Which of `ids`, each once, are messages in a set. Returns a digit for each (0 it is, 3 there is
-- no such message), and
-- the tickets, and by id the messages (lib/message.lua), that are.
local function find_in_set(ids, set)
  local digits, tickets, messages, seen = {}, {}, {}, {}
  for i, id in ipairs(ids) do
    local m = not seen[id] and find_message(id, { set })
    seen[id], digits[i] = true, DUEQ_NOT_FOUND
    if m and m.place then
      digits[i], tickets[#tickets + 1], messages[id] = DUEQ_OK, m.ticket, m
    end
  end
  return table.concat(digits), tickets, messages
end
