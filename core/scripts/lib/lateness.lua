-- How late each of these tickets is delivered, as reserve_rare answers it. `times`: when those were due that were delayed.
local function lateness(tickets, times, now)
  local texts, in_line = {}, false
  for i, ticket in ipairs(tickets) do
    local time, prior = times[ticket], string.find(ticket, '^%d+%.%w*[hl]:')
    texts[i] = time and int(now - time) or prior and '?' or '-'
    in_line = in_line or texts[i] == '-'
  end
  local mark, stop = 0, now
  if in_line then
    local state = redis.call('HMGET', meta, 'reserved', 'ready_offset')
    local came = (tonumber(state[1] or '') or 0) + (tonumber(state[2] or '') or 0)
    for _, text in ipairs(redis.pcall('LRANGE', rates, 0, 359)) do
      local time, before = string.match(text, '^(%d+) (%d+) ')
      if time and tonumber(before) <= came then
        mark = tonumber(time)
        break
      end
      stop = tonumber(time) or stop
    end
  end
  return table.concat({ int(mark), int(stop), unpack(texts) }, ' ')
end
