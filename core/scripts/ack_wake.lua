-- ack_wake: finishes leased messages. If others wait until fewer are leased, a consumer wakes.
-- keys msg leased attempts meta reply ready rates wake
-- includes ack_leases keep_reply wake
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost; and 'l' if the queue has limits.

-- include ack_leases
local state = redis.pcall('HMGET', meta, 'limited', 'held')
if #tickets > 0 and state[2] == '1' then
  wake_one(#tickets > 1)
end
return keep_reply(answer .. (state[1] == '1' and 'l' or ''))
