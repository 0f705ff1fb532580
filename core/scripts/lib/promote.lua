-- Puts what is due, and messages whose lease has ended, at the ends of their lines: at most 100 of each; or (`ordered`)
-- the latter at the fronts, by their ids. The caller
-- removes `due` from the front of `delayed`. `times` (nil: not wanted) gets when each was due. An ended lease is a crash in the message's attempts. Returns how many were
-- due, what is no ticket, and the next event (huge: none).
local function promote(now, ordered, times)
  local function heads(set)
    local past = redis.call('ZRANGEBYSCORE', set, '-inf', string.format('%d', now), 'LIMIT', '0', '100')
    local at = tonumber(redis.call('ZRANGE', set, #past, #past, 'WITHSCORES')[2] or '') or math.huge
    return past, at < 4102444800000 and math.max(0, math.ceil(at)) or math.huge
  end
  local back, next_due = heads(delayed)
  for i = 1, times and #back or 0 do
    times[back[i]] = tonumber(redis.call('ZSCORE', delayed, back[i]))
  end
  local ended, next_end = heads(leased)
  local due, records, broken, first, place = #back, {}, {}, {}, {}
  for _, ticket in ipairs(ended) do
    local deliveries, id, suffix = ticket_read(ticket)
    gone('ZREM', leased, ticket)
    if not deliveries then
      broken[#broken + 1] = ticket
    elseif redis.call('HEXISTS', msg, id) == 1 then
      local had = attempts_read(redis.call('HGET', attempts, id))
      had.deliveries, had.suffix, had.crashes = deliveries + 1, suffix, had.crashes + 1
      note_failure(now, 'crashed', ticket, '', '')
      local again = ticket_write(deliveries + 1, id, suffix)
      table.insert(ordered and first or back, again)
      place[again] = id
      records[#records + 1], records[#records + 2] = id, attempts_write(had)
    end
  end
  if #back + #first > 0 then
    look_around()
    line_up(back)
    -- The last of them comes first.
    table.sort(first, function(a, b) return place[a] > place[b] end)
    line_up(first, true)
  end
  bulk('HSET', attempts, records)
  return due, broken, math.min(next_due, next_end)
end
