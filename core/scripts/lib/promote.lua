-- Puts what is due, and messages whose lease has ended, at the ends of their lines: at most 100 of each, which
-- the caller removes: `due` from the front of `delayed`, `ended` tickets from `leased`. An ended lease is a crash in the
-- message's attempts. Returns how many were due, the ended tickets, those that are no tickets, and the next event
-- (nil: none).
local function promote(now)
  local function heads(set)
    local found, past = redis.call('ZRANGE', set, 0, 100, 'WITHSCORES'), {}
    for i = 1, #found, 2 do
      local at = tonumber(found[i + 1])
      if at > now or i == 201 then
        return past, math.max(0, math.min(math.ceil(at), 4102444800000))
      end
      past[#past + 1] = found[i]
    end
    return past, math.huge
  end
  local due, next_due = heads(delayed)
  local ended, next_end = heads(leased)
  local back, records, broken = {}, {}, {}
  for _, ticket in ipairs(ended) do
    local deliveries, id, suffix = ticket_read(ticket)
    if not deliveries then
      broken[#broken + 1] = ticket
    elseif redis.call('HEXISTS', msg, id) == 1 then
      local had = attempts_read(redis.call('HGET', attempts, id))
      had.deliveries, had.suffix, had.crashes = deliveries + 1, suffix, had.crashes + 1
      back[#back + 1] = ticket_write(deliveries + 1, id, suffix)
      records[#records + 1], records[#records + 2] = id, attempts_write(had)
    end
  end
  for _, ticket in ipairs(back) do
    due[#due + 1] = ticket
  end
  if #due > 0 then
    look_around()
    line_up(due)
  end
  if #records > 0 then
    redis.call('HSET', attempts, unpack(records))
  end
  local first = math.min(next_due, next_end)
  return #due - #back, ended, broken, first < math.huge and first or nil
end
