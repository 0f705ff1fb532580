-- delete: finishes reserved jobs of a queue of Laravel's.
-- KEYS[1] reserved  ZSET  payload with its attempts raised -> until when, seconds
-- KEYS[2] calls     HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, then the reserved payload of each
-- Returns one digit for each: 0 done, 4 it is not reserved any more.
local reserved, calls = KEYS[1], KEYS[2]
-- include noted

local outcome = {}
for i = 4, #ARGV do
  outcome[#outcome + 1] = redis.call('ZREM', reserved, ARGV[i]) == 1 and DUEQ_OK or DUEQ_LEASE_LOST
end
return noted(calls, table.concat(outcome))
