-- Finishes the messages of tickets that are held.
local function acknowledge(tickets)
  for _, ticket in ipairs(tickets) do
    local deliveries, id = string.match(ticket, '^(%d+)%.?%w*:(.+)$')
    if id and deliveries ~= '0' then
      gone('HDEL', attempts, id)
    end
    gone('HDEL', msg, id or ticket)
    gone('ZREM', leased, ticket)
  end
end
