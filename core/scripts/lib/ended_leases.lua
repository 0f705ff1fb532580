-- defines ended_leases; needs high leased low ready; includes event_time ticket lane
-- The messages whose leases have ended, by their lanes: the earlier end first or, where `ordered`,
-- by id; 200 at most, and
-- none that this call settles. None before `from`: until then they are left to their holders.
-- Returns for each lane a list
-- of tables (ticket, at: the lease's end, deliveries, id and suffix; nil: it is no ticket), and
-- when a reserve is to look
-- at the ends of leases again: `span` before the first of them, then four times in that time (huge:
-- no other lease).
local function ended_leases(now, span, from, settled, ordered)
  local by_lane, keys = { [high] = {}, [ready] = {}, [low] = {} }, { high = high, ready = ready, low = low }
  local found = redis.call('ZRANGEBYSCORE', leased, '-inf', string.format('%d', now + span), 'WITHSCORES', 'LIMIT', '0', '200')
  local function recheck_at(stop)
    if stop > now + span then
      return stop - span
    end
    stop = math.max(stop, from)
    return stop > now and math.min(stop, now + math.ceil(span / 4)) or stop
  end
  local recheck = recheck_at(event_time(redis.call('ZRANGE', leased, #found / 2, #found / 2, 'WITHSCORES')[2]))
  for i = 1, #found, 2 do
    local ticket, stop = found[i], event_time(found[i + 1])
    if not settled[ticket] and (stop > now or from > now) then
      recheck = math.min(recheck, recheck_at(stop))
    elseif not settled[ticket] then
      local lease = { ticket = ticket, at = stop }
      lease.deliveries, lease.id, lease.suffix = ticket_read(ticket)
      table.insert(by_lane[keys[lane_of(ticket)]], lease)
    end
  end
  if ordered then
    for _, leases in pairs(by_lane) do
      table.sort(leases, function(a, b) return (a.id or '') < (b.id or '') end)
    end
  end
  return by_lane, recheck
end
