-- defines crash_pause; needs leased; includes decimal backoff
-- For how many ms a message waits that has crashed, before it is delivered again. After one crash
-- it does not wait, because another message may have crashed the process. From the second crash on
-- it waits as its backoff says of failures. Then it waits at least 1 s more, and at most a minute,
-- while the last delivered message with two crashes or more is still leased: so two such messages
-- do not run side by side. had: its attempts. e: its envelope as a table. crashed_now: this reserve
-- found that its lease has ended. suspect: "TIME TICKET" of that last message. settled: tickets
-- that this call settles.
local function crash_pause(e, id, had, now, crashed_now, suspect, settled)
  if had.crashes < 2 then
    return 0
  end
  -- Messages that crashed together must not come back together. The server seeds a script's random
  -- numbers alike in each call, so the id and the time give one. At least 1/64 of a jitter stays.
  local chance = math.max(1024, tonumber(string.sub(redis.sha1hex(id .. decimal(now)), 1, 4), 16))
  local pause = backoff_ms(e.backoff, had.crashes - 1, chance)
  if crashed_now and pause > 0 then
    return pause
  end
  local since, ticket = string.match(suspect or '', '^(%d+) (.+)$')
  local runs = ticket and not settled[ticket] and tonumber(since) > now - 60000
    and tonumber(since) <= now
    and tonumber(redis.call('ZSCORE', leased, ticket) or 0) > now
  return runs and math.max(1000, pause) or 0
end
