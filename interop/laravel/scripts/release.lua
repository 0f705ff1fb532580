-- release: gives reserved jobs of a Laravel queue back.
-- keys jobs later reserved notify reply
-- includes seconds now add_padded adjust_tokens keep_foreign_reply
-- ARGV    number, keep, minute, delay in ms, then the reserved payload of each
-- Returns one digit for each: 0 given back, 4 no longer reserved: nothing was changed.

-- A key of another type ends the script here, before any change.
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
