-- defines crash_pause; needs leased; includes decimal backoff
-- How long a message with crashes waits, in ms, when its turn comes. `had` are its attempts, `e` is
-- its envelope as a table;
-- `crashed_now`: this reserve has found the end of its lease. After one crash not at all: its
-- process may have crashed by
-- the fault of another message. From the second crash on it waits as its backoff says of failures,
-- and then a second or more
-- while the last message of this kind that was delivered (`suspect`: TIME TICKET) is worked on, for
-- a minute at most. So no
-- message runs beside one that ends its process a third time.
local function crash_pause(e, id, had, now, crashed_now, suspect, settled)
  if had.crashes < 2 then
    return 0
  end
  -- A script has no chance of its own, and messages that crashed together are to come back apart.
  -- Jitter leaves a 64th.
  local chance = math.max(1024, tonumber(string.sub(redis.sha1hex(id .. decimal(now)), 1, 4), 16))
  local pause = backoff_ms(e.backoff, had.crashes - 1, chance)
  if crashed_now and pause > 0 then
    return pause
  end
  local since, ticket = string.match(suspect or '', '^(%d+) (.+)$')
  local runs = ticket and not settled[ticket] and tonumber(since) > now - 60000 and tonumber(since) <= now
    and tonumber(redis.call('ZSCORE', leased, ticket) or 0) > now
  return runs and math.max(1000, pause) or 0
end
