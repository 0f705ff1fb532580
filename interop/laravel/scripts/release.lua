-- release: gives reserved jobs of a queue of Laravel's back.
-- keys jobs later reserved notify reply
-- ARGV    number, keep, minute, delay in ms, then the reserved payload of each
-- Returns one digit for each: 0 done, 4 it is not reserved any more, and nothing is changed.

redis.call('LLEN', jobs)
redis.call('ZCARD', later)
redis.call('ZCARD', reserved)
redis.call('LLEN', notify)
local delay, due = tonumber(ARGV[4]), second_of(now_ms() + ARGV[4])
local outcome, at_once = {}, 0
for i = 5, #ARGV do
  local was_reserved = redis.call('ZREM', reserved, ARGV[i]) == 1
  if was_reserved and delay > 0 then
    add_padded(later, due, ARGV[i])
  elseif was_reserved then
    redis.call('RPUSH', jobs, ARGV[i])
    at_once = at_once + 1
  end
  outcome[#outcome + 1] = was_reserved and DUEQ_OK or DUEQ_LEASE_LOST
end
adjust_tokens(notify, at_once)
return keep_foreign_reply(table.concat(outcome))
