-- Finishes the messages of tickets that are held, of which there is one at least.
local function acknowledge(tickets)
  local messages, over = going('HDEL', msg), going('ZREM', leased)
  for _, ticket in ipairs(tickets) do
    local deliveries, id = string.match(ticket, '^(%d+)%.?%w*:(.+)$')
    if id and deliveries ~= '0' then
      gone('HDEL', attempts, id)
    end
    messages[#messages + 1], over[#over + 1] = id or ticket, ticket
  end
end
