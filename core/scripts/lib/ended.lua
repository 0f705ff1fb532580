-- The leases that have ended, 200 at most, but for those that this call settles (`settled`): the earlier first, or
-- (`ordered`) by their ids. They stay their holders' until a reserve takes their messages (lib/choose.lua). Returns for
-- each line a list of tables: ticket, at (its end), deliveries, id and suffix (nil: it is no ticket); and the next end of
-- a lease (huge: none). `pause`: they are left to their holders, and looked at again after so many ms.
local function ended_leases(now, settled, ordered, pause)
  local by_line = { [high] = {}, [ready] = {}, [low] = {} }
  if pause then
    local number = redis.call('ZCOUNT', leased, '-inf', string.format('%d', now))
    local next_end = event_time(redis.call('ZRANGE', leased, number, number, 'WITHSCORES')[2])
    return by_line, number > 0 and math.min(next_end, now + pause) or next_end
  end
  local keys = { high = high, ready = ready, low = low }
  local found = redis.call('ZRANGEBYSCORE', leased, '-inf', string.format('%d', now), 'WITHSCORES', 'LIMIT', '0', '200')
  for i = 1, #found, 2 do
    local ticket = found[i]
    local lease = { ticket = ticket, at = event_time(found[i + 1]) }
    lease.deliveries, lease.id, lease.suffix = ticket_read(ticket)
    if not settled[ticket] then
      table.insert(by_line[keys[line_of(ticket)]], lease)
    end
  end
  if ordered then
    for _, leases in pairs(by_line) do
      table.sort(leases, function(a, b) return (a.id or '') < (b.id or '') end)
    end
  end
  return by_line, event_time(redis.call('ZRANGE', leased, #found / 2, #found / 2, 'WITHSCORES')[2])
end
