-- ack: finishes leased messages.
-- keys msg leased attempts meta reply ready rates
-- args tickets
-- Returns a digit for each: 0 finished, 4 the lease was lost.

local now = now_ms()
if ARGV[3] == '1' then
  -- include history
  note_history(now)
end
local outcome, tickets = held(4, #ARGV, now)
if #tickets > 0 then
  local ids, again = ids_of(tickets)
  if #again > 0 then
    look({ HLEN = { attempts } })
  end
  redis.call('HDEL', msg, unpack(ids))
  if #again > 0 then
    redis.call('HDEL', attempts, unpack(again))
  end
  redis.call('ZREM', leased, unpack(tickets))
  count('acked', #tickets)
end
return done(outcome)
