-- defines group_in
-- The group that a ticket names, as in tickets; nil: it names none.
local function group_in(ticket)
  return string.match(ticket, '^%d+%.!?%w*=([^:]+):')
end
