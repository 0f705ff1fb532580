-- outcome: how a message ended, if that is noted. It ends a message whose time to live is over,
-- unless the call only looks.
-- keys msg delayed leased dead outbox attempts meta ends kept started awaited guests end_wake
-- keys wake turns working parked timers
-- includes message decimal now note_end deferred_removals count refuse_layout noop_write wake
-- includes leaves chain_failed
-- args alone: id; for how many ms the caller waits (0: it does not); 'r' if it took the wake token;
--   'l' if it only looks
-- Returns nil: no such message is known; else { now ms, in how many ms the caller must ask again
--   (-1: it is told), state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox; 0: there is no such
--   message), record (lib/note_end.lua; '': it has not ended), until when the record is kept (0: as
--   long as the message is there) }; or 'unnoted': nobody will tell how the message ends.

-- include refuse_layout
local id, now = ARGV[1], now_ms()
local m = find_message(id, { delayed, leased, dead, outbox })
local e = m and envelope_read(m.envelope)
local state = m and (m.place or 0) + 1 or 0
local expired = state > 0 and state < 3 and e and e.keep and e.expires and e.expires <= now
if expired and ARGV[4] ~= 'l' then
  -- include leaves
  -- include chain_failed
  leaves({ m.ticket }, true)
  note_end(id, m.envelope, 'expired', m.ticket, '', '')
  -- include noop_write
  local out = chain_failed(id, e, m.ticket, 'its time to live is over', now)
  out = write_ends(now) or out
  local returned = write_left()
  defer_forget(id)
  if state == 2 then
    defer_removal('ZREM', delayed, m.ticket)
  end
  run_removals()
  if out or returned > 0 then
    -- The client of this call relays nothing: a consumer that waits does.
    wake_one()
  end
  count('expired', 1)
  state, expired = 0, false
end
local record, stays = nil, nil
if state == 0 or state > 3 then
  record, stays = redis.call('HGET', ends, id), tonumber(redis.call('ZSCORE', kept, id) or '')
  if not (record and record ~= '' and stays and stays > now) then
    record = nil
  end
end
if not record and state == 4 then
  -- A dead message is its own end, also when the record is over.
  record, stays = string.format('dead %s 0\n', decimal(tonumber(m.time))) .. m.ticket .. '\n\n'
    .. m.had.error, 0
elseif expired then
  -- Another call ends the message.
  record, stays = string.format('expired %s 0\n', decimal(e.expires)) .. m.ticket .. '\n\n', 0
end
if record then
  if ARGV[3] == 'r' then
    -- Others may wait for the same message: the token goes to the next one.
    redis.pcall('ZADD', end_wake, 0, 'w')
    redis.pcall('PEXPIRE', end_wake, 60000)
  end
  return { now, -1, state, record, stays }
elseif state == 0 then
  return nil
end
local again = -1
if ARGV[2] ~= '0' then
  if not (e and e.keep) then
    return 'unnoted'
  end
  local over = redis.call('ZRANGEBYSCORE', awaited, '-inf', now, 'LIMIT', 0, 100)
  local until_ms = decimal(now + ARGV[2])
  redis.call('ZADD', awaited, 'GT', until_ms, id)
  local last = redis.call('ZRANGE', awaited, -1, -1, 'WITHSCORES')[2]
  redis.call('PEXPIREAT', awaited, last)
  if #over > 0 then
    redis.call('ZREM', awaited, unpack(over))
  end
  again = e.expires and state < 3 and math.max(1, e.expires - now) or -1
end
return { now, again, state, '', 0 }
