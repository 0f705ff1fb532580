-- Which of the tickets in ARGV from `from` to `to` are held: their leases are not over, also where no reserve has
-- moved them yet, and none is named twice. Returns a digit for each, and the tickets that are; or nil, and why it cannot
-- tell.
local function held(from, to, now)
  local digits, tickets, seen = {}, {}, {}
  local ends = redis.pcall('ZMSCORE', leased, unpack(ARGV, from, to))
  if ends.err then
    return nil, ends
  end
  for i, stop in ipairs(ends) do
    local ticket = ARGV[from + i - 1]
    local ours = stop and tonumber(stop) > now and not seen[ticket]
    digits[i] = ours and DUEQ_OK or DUEQ_LEASE_LOST
    seen[ticket] = true
    if ours then
      tickets[#tickets + 1] = ticket
    end
  end
  return table.concat(digits), tickets
end
