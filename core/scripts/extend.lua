-- extend: sets the ends of leases anew.
-- keys leased wake meta reply
-- args lease in ms from now, tickets
-- Returns a digit for each: 0 done, 4 the lease was lost.

-- include permit
local now = now_ms()
local outcome, ends = {}, {}
local at = now + ARGV[4]
for i = 5, #ARGV do
  local stop = redis.call('ZSCORE', leased, ARGV[i])
  local ours = stop and tonumber(stop) > now
  outcome[#outcome + 1] = ours and DUEQ_OK or DUEQ_LEASE_LOST
  if ours then
    ends[#ends + 1], ends[#ends + 2] = string.format('%d', at), ARGV[i]
  end
end
if #ends > 0 then
  redis.call('ZADD', leased, 'XX', unpack(ends))
  note_event(at, now)
end
return done(table.concat(outcome))
