-- defines first_in_line; needs msg; includes ticket group_line
-- The first ticket of a line that has a message, among the first ten; nil: there is none.
local function first_in_line(line)
  for _ = 1, 10 do
    local ticket = line_take(line)
    local _, id = ticket_read(ticket or '')
    if id and redis.call('HEXISTS', msg, id) == 1 then
      return ticket
    end
  end
end
