-- push_replace: stores a message that may replace the message with its id, if that is ready or
-- delayed and never came back. For any other it changes nothing and answers nil, and the client
-- runs push_replace_full.
-- keys msg ready delayed wake meta reply unique leased dead outbox attempts
-- includes envelope return_problem wake note_event keep_unique keep_reply_inline
-- args as push_replace_full, of one message without a priority and a time to live
-- passes on to push_replace_full
-- Returns a digit: 0 stored, 2 the id is still unique; or nil.
local id, envelope, answer = ARGV[4], ARGV[5], '0'
local window, replace = string.match(ARGV[7], '^0 (%d+) (%d)$')
window = window ~= '0' and window
local old, has_unique, ends = redis.pcall('HGET', msg, id), nil, nil
if not old or window then
  has_unique = redis.call('ZCARD', unique) > 0
  ends = not old and has_unique and redis.call('ZSCORE', unique, id)
end
if type(old) == 'table' then
  local problem = old
  -- include return_problem
end
-- Where nothing needs the time, both are 0: the message is due now.
local now, at = 0, 0
if ARGV[6] ~= '0' or window or has_unique then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if ARGV[6] ~= '0' then
  at = string.sub(ARGV[6], 2) + (string.byte(ARGV[6]) == 43 and now or 0)
end
local old_ticket, was_delayed, keeps_place
if old then
  local version, flags = string.byte(old, 1, 2)
  if version ~= 0xD1 or not flags or flags % 2 == 0 or flags >= 32 or not replace then
    return nil
  end
  old_ticket = '0.' .. string.sub(old, 5, 14) .. ':' .. id
  was_delayed = redis.call('ZSCORE', delayed, old_ticket)
  if not was_delayed and (redis.call('HGET', attempts, id)
      or redis.call('ZSCORE', leased, old_ticket) or redis.call('ZSCORE', dead, old_ticket)
      or redis.call('ZSCORE', outbox, old_ticket)) then
    return nil
  end
  -- As in lib/replace_message.lua.
  keeps_place = replace == '2' or not was_delayed and at <= now
  if keeps_place then
    if flags > 1 or #old < 14 then
      -- include envelope
      if not envelope_read(old) then
        return nil
      end
    end
    envelope = string.sub(envelope, 1, 4) .. string.sub(old, 5, 14) .. string.sub(envelope, 15)
  end
end
if ends and tonumber(ends) > now then
  answer = '2'
else
  if not keeps_place then
    -- The ticket comes first: a reserve drops a ticket without a message.
    local ticket = '0.' .. string.sub(envelope, 5, 14) .. ':' .. id
    local added = at > now and redis.pcall('ZADD', delayed, string.format('%d', at), ticket)
      or at <= now and redis.pcall('RPUSH', ready, ticket)
    local problem = type(added) == 'table' and added
    -- include return_problem
    local first = at > now and tonumber(redis.pcall('HGET', meta, 'next_event') or '')
    if at <= now and added == 1 then
      -- include wake
      wake_one()
    elseif at > now and not (first and first <= at) then
      -- include note_event
      note_event(at, now)
    end
  end
  redis.call('HSET', msg, id, envelope)
  if was_delayed and not keeps_place then
    redis.call('ZREM', delayed, old_ticket)
  end
  if not keeps_place or replace ~= '2' then
    redis.pcall('HINCRBY', meta, 'pushed', '1')
    if old then
      redis.pcall('HINCRBY', meta, 'cancelled', '1')
    end
  end
end
-- include keep_unique
-- include keep_reply_inline
return answer
