-- Takes messages of one state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox) away, those at the front first: looks at
-- up to `most` tickets. Returns the ids of those taken away, which the caller removes, and how many tickets were looked
-- at: less than `most` when none is left.
local function purge(state, most)
  local ids, seen, met = {}, {}, 0
  local function take(tickets)
    for _, ticket in ipairs(tickets) do
      local _, id = ticket_read(ticket)
      local envelope = id and not seen[id] and redis.call('HGET', msg, id)
      if envelope and (ticket == current_ticket(id, envelope, redis.call('HGET', attempts, id))
        or not envelope_read(envelope)) then
        ids[#ids + 1], seen[id] = id, true
      end
    end
    met = met + #tickets
  end
  if state == 1 then
    for _, line in ipairs({ high, ready, low }) do
      local tickets = most > met and redis.call('LRANGE', line, 0, most - met - 1) or {}
      take(tickets)
      if #tickets > 0 then
        redis.call('LTRIM', line, #tickets, -1)
        if line == ready then
          count('ready_offset', #tickets)
        end
      end
    end
  else
    local set = ({ nil, delayed, leased, dead, outbox })[state]
    take(redis.call('ZRANGE', set, 0, most - 1))
    redis.call('ZREMRANGEBYRANK', set, 0, most - 1)
  end
  if #ids > 0 then
    count('purged', #ids)
  end
  return ids, met
end
