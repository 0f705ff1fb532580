-- A ticket is "attempt:id", or "attempt.stamp:id" where the producer gave the id; the attempt has nine
-- digits at most. Returns attempt, id, stamp (nil without one); nil where it is no ticket.
local function ticket_read(ticket)
  local stamp
  local attempt, id = string.match(ticket, '^(%d+):(.+)$')
  if not attempt then
    attempt, stamp, id = string.match(ticket, '^(%d+)%.(%w+):(.+)$')
  end
  if attempt and #attempt < 10 then
    return tonumber(attempt), id, stamp
  end
end

local function ticket_write(attempt, id, stamp)
  if stamp then
    return string.format('%d.%s:%s', attempt, stamp, id)
  end
  return string.format('%d:%s', attempt, id)
end
