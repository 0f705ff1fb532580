-- defines begun_member
-- `begun` has the messages of groups in the order strict that were delivered and have not ended for
-- good. A member is the group, a tab, what the suffix of its tickets has before '=' ('!', the
-- incarnation, both or nothing), a colon and the id. Scripts that end a message leave its member
-- there: the next reserve that looks at the group finds that the message has ended. Each reserve
-- that delivers messages in this order also looks at some other members.
-- Returns the member of a ticket's message; nil: it has no group.
local function begun_member(ticket)
  local own, name, id = string.match(ticket, '^%d+%.(!?%w*)=([^:]+):(.+)$')
  return name and name .. '\t' .. own .. ':' .. id
end
