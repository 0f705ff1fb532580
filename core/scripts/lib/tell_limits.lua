-- needs answer meta returned tickets; includes wake
-- The end of an acknowledgement in a queue that may have limits: a consumer that waits for a place
-- wakes, and the client learns whether the queue has limits. returned: how many groups have free
-- places again.
local state = redis.pcall('HMGET', meta, 'limited', 'held')
if #tickets > 0 and (state[2] == '1' or returned > 0) then
  wake_one(#tickets > 1)
end
answer = answer .. ((state[1] == '1' or state[1] == '2') and 'l' or '')
