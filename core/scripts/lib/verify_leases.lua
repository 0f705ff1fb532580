-- defines verify_leases; needs leased
-- Which of the tickets in ARGV, from `from` to `to`, are leased; a ticket that comes twice counts
-- once. A ticket stays in `leased` after its lease has ended, until a reserve takes its message.
-- Returns a digit for each, and the leased tickets; or nil and an error.
local function verify_leases(from, to)
  local digits, tickets, seen = {}, {}, {}
  local ends = redis.pcall('ZMSCORE', leased, unpack(ARGV, from, to))
  if ends.err then
    return nil, ends
  end
  for i, stop in ipairs(ends) do
    local ticket = ARGV[from + i - 1]
    local ours = stop and not seen[ticket]
    digits[i] = ours and DUEQ_OK or DUEQ_LEASE_LOST
    seen[ticket] = true
    if ours then
      tickets[#tickets + 1] = ticket
    end
  end
  return table.concat(digits), tickets
end
