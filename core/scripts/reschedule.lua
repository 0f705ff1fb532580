-- reschedule: gives a delayed message that was never delivered another due time. For any other
-- message, or if the time has passed, it changes nothing and answers nil, and the client runs
-- reschedule_full.
-- keys msg delayed wake meta reply
-- includes plain_ticket note_event keep_reply_inline
-- args id, due ('0' now, '+ms' from now, '@ms' since 1970)
-- passes on to reschedule_full
-- Returns a digit: 0 done, or nil.
local id, time = ARGV[4], redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = (tonumber(string.sub(ARGV[5], 2)) or 0) + (string.byte(ARGV[5]) == 43 and now or 0)
-- include plain_ticket
if at <= now
  or redis.call('ZADD', delayed, 'XX', 'CH', string.format('%d', at), ticket) == 0 then
  return nil
end
local first = tonumber(redis.pcall('HGET', meta, 'next_event') or '')
if not first or first > at then
  -- include note_event
  note_event(at, now)
end
local answer = DUEQ_OK
-- include keep_reply_inline
return answer
