-- extend: sets the ends of leases anew.
-- keys leased wake meta reply
-- args ticket and lease in ms from now of each
-- Returns a digit for each: 0 done, 4 the lease was lost.
-- include now
-- include event
-- include done

-- include permit
local now = now_ms()
local outcome, ends, first = {}, {}, nil
for i = 4, #ARGV, 2 do
  local stop = redis.call('ZSCORE', leased, ARGV[i])
  local ours = stop and tonumber(stop) > now
  outcome[#outcome + 1] = ours and DUEQ_OK or DUEQ_LEASE_LOST
  if ours then
    local at = now + ARGV[i + 1]
    ends[#ends + 1], ends[#ends + 2] = string.format('%d', at), ARGV[i]
    first = math.min(first or at, at)
  end
end
if first then
  redis.call('ZADD', leased, 'XX', unpack(ends))
  note_event(first, now)
end
return done(table.concat(outcome))
