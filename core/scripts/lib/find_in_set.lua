-- defines find_in_set; includes message
-- Finds which of `ids` are messages in a set; an id that comes twice counts once. Returns a digit
-- for each id (0 it is one, 3 there is no such message), the tickets, and the messages by id
-- (lib/message.lua).
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
