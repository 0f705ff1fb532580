-- ack_wake: finishes leased messages. If others wait until fewer are leased, a consumer wakes.
-- keys msg leased attempts meta reply ready rates wake turns working parked timers
-- includes ack_verify ack_finish deferred_removals give_places keep_reply wake
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease is lost; and 'l' if the queue has limits.

-- include ack_verify
local taken_out = tickets
-- include give_places
local returned = give_places and give_places() or 0
-- include ack_finish
local state = redis.pcall('HMGET', meta, 'limited', 'held')
if #tickets > 0 and (state[2] == '1' or returned > 0) then
  wake_one(#tickets > 1)
end
return keep_reply(answer .. ((state[1] == '1' or state[1] == '2') and 'l' or ''))
