-- reschedule: gives a delayed message that was never delivered another due time. For any other
-- message, or if the time has passed, it changes nothing and answers nil, and the client runs
-- reschedule_full.
-- keys msg delayed wake meta reply
-- includes plain_ticket note_score keep_reply_inline
-- args id, due ('0' now, '+ms' from now, '@ms' since 1970)
-- passes on to reschedule_full
-- Returns a digit: 0 done, or nil.
local id, time, after = ARGV[4], redis.call('TIME'), tonumber(ARGV[5])
-- `now` has its microseconds; a score is cut to whole milliseconds. '@ms' is no number.
local now = time[1] * 1000 + time[2] / 1000
local at = after and now + after or tonumber(string.sub(ARGV[5], 2))
-- include plain_ticket
local score = string.format('%d', at)
if at <= now or redis.call('ZADD', delayed, 'XX', 'CH', score, ticket) == 0 then
  return nil
end
-- include note_score
local answer = DUEQ_OK
-- include keep_reply_inline
return answer
