-- defines ended_leases; needs high leased low ready; includes event_time ticket lane
-- Finds the messages whose leases have ended, at most 200, without those that this call settles.
-- Before the time `from` it finds none: until then the holders may still extend their leases. Sorts
-- them by the end of the lease, or by id if `ordered`.
-- Returns for each lane a list of tables: ticket, at (the lease's end), deliveries, id (nil: it is
--   no ticket) and suffix. Returns also when a reserve must look at the ends of leases again:
--   `span` before the first of them, and then four times in that time (huge: no other lease).
local function ended_leases(now, span, from, settled, ordered)
  local by_lane = { [high] = {}, [ready] = {}, [low] = {} }
  local keys = { high = high, ready = ready, low = low }
  local found = redis.call('ZRANGEBYSCORE', leased, '-inf', string.format('%d', now + span),
    'WITHSCORES', 'LIMIT', '0', '200')
  local function recheck_at(stop)
    if stop > now + span then
      return stop - span
    end
    stop = math.max(stop, from)
    return stop > now and math.min(stop, now + math.ceil(span / 4)) or stop
  end
  local next_lease = redis.call('ZRANGE', leased, #found / 2, #found / 2, 'WITHSCORES')
  local recheck = recheck_at(event_time(next_lease[2]))
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
