-- delete: deletes reserved jobs of a Laravel queue.
-- keys reserved reply
-- includes keep_foreign_reply
-- ARGV    number, keep, minute, then the reserved payload of each
-- Returns one digit for each: 0 deleted, 4 no longer reserved.

local outcome = {}
for i = 4, #ARGV do
  outcome[#outcome + 1] = redis.call('ZREM', reserved, ARGV[i]) == 1 and DUEQ_OK or DUEQ_LEASE_LOST
end
return keep_foreign_reply(table.concat(outcome))
