-- defines verify_leases_fast; needs argv call leased
-- Does for a fast reserve what verify_leases() does. The tickets of one call usually have one end,
-- so that one command finds most of them. No ticket comes twice.
local function verify_leases_fast()
  local digits, tickets, there = {}, {}, {}
  local stop = call('ZSCORE', leased, argv[8])
  if stop then
    for _, ticket in ipairs(call('ZRANGEBYSCORE', leased, stop, stop, 'LIMIT', '0', '400')) do
      there[ticket] = true
    end
  end
  for i = 8, #argv do
    local ticket = argv[i]
    local ours = there[ticket] or there[ticket] == nil and call('ZSCORE', leased, ticket)
    there[ticket] = false
    digits[#digits + 1] = ours and DUEQ_OK or DUEQ_LEASE_LOST
    tickets[#tickets + 1] = ours and ticket or nil
  end
  return table.concat(digits), tickets
end
