-- defines acknowledge; needs attempts leased msg; includes deferred_removals
-- Finishes the messages of leased tickets; there is at least one ticket.
local function acknowledge(tickets)
  local ids, leases = removal('HDEL', msg), removal('ZREM', leased)
  for _, ticket in ipairs(tickets) do
    local deliveries, id = string.match(ticket, '^(%d+)[^:]*:(.+)$')
    if id and deliveries ~= '0' then
      defer_removal('HDEL', attempts, id)
    end
    ids[#ids + 1], leases[#leases + 1] = id or ticket, ticket
  end
end
