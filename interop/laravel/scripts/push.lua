-- push: stores jobs in a Laravel queue: all, or on an error none.
-- keys jobs later notify reply
-- includes now due_time seconds adjust_tokens keep_foreign_reply
-- ARGV    number, keep, minute, then due and payload of each; due is '0' (now), '+ms' from now or
--         '@ms' since 1970
-- Returns one digit for each: 0 stored, 2 a payload of the same bytes is delayed already.

-- A key of another type ends the script here, before any change.
redis.call('LLEN', jobs)
redis.call('LLEN', notify)
redis.call('ZCARD', later)
local now = now_ms()
local outcome, at_once = {}, {}
for i = 4, #ARGV, 2 do
  local due = due_time(ARGV[i], now)
  local stored = 1
  if due > now then
    stored = redis.call('ZADD', later, 'NX', second_of(due), ARGV[i + 1])
  else
    at_once[#at_once + 1] = ARGV[i + 1]
  end
  outcome[#outcome + 1] = stored == 1 and DUEQ_OK or DUEQ_DUPLICATE
end
if #at_once > 0 then
  redis.call('RPUSH', jobs, unpack(at_once))
  adjust_tokens(notify, #at_once)
end
return keep_foreign_reply(table.concat(outcome))
