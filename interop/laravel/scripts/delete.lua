-- delete: finishes reserved jobs of a queue of Laravel's.
-- KEYS[1] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[2] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, then the reserved payload of each
-- Returns one digit for each: 0 done, 4 it is not reserved any more.
local reserved = KEYS[1]
-- include noted

local outcome = {}
for i = 4, #ARGV do
  outcome[#outcome + 1] = redis.call('ZREM', reserved, ARGV[i]) == 1 and DUEQ_OK or DUEQ_LEASE_LOST
end
return noted(KEYS[2], table.concat(outcome))
