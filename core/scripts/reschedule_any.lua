-- reschedule_any: gives a delayed message another due time.
-- keys msg ready high low delayed wake meta attempts reply
-- args id, due: '0' (now), '+ms' from now or '@ms' since 1970
-- Returns a digit: 0 done, 3 there is no such delayed message.

local id, now = ARGV[4], now_ms()
local at = due_time(ARGV[5], now)
local envelope = redis.call('HGET', msg, id)
local ticket = envelope and current_ticket(id, envelope, redis.call('HGET', attempts, id))
if not ticket or not redis.call('ZSCORE', delayed, ticket) then
  return done(DUEQ_NOT_FOUND)
end
if at > now then
  redis.call('ZADD', delayed, 'XX', string.format('%d', at), ticket)
  note_event(at, now)
else
  if line_up({ ticket }) then
    wake_one()
  end
  redis.call('ZREM', delayed, ticket)
end
return done(DUEQ_OK)
