-- defines put_tickets; includes bulk
-- Puts tickets into a set, all with one time.
local function put_tickets(set, at, tickets)
  local words = {}
  for i, ticket in ipairs(tickets) do
    words[2 * i - 1], words[2 * i] = string.format('%d', at), ticket
  end
  bulk('ZADD', set, words)
end
