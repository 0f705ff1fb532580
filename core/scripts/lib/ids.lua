-- The ids in sound tickets, and those of them that came back before.
local function ids_of(tickets)
  local ids, again = {}, {}
  for i, ticket in ipairs(tickets) do
    local deliveries, id = string.match(ticket, '^(%d+)%.?%w*:(.+)$')
    ids[i] = id or ticket
    if id and deliveries ~= '0' then
      again[#again + 1] = id
    end
  end
  if #again > 0 then
    redis.call('HLEN', attempts) -- a foreign key ends it here: see lib/look.lua
  end
  return ids, again
end
