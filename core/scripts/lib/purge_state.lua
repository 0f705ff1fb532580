-- Takes messages of one state (1 ready, 2 delayed, 3 leased, 4 dead) away, those at the front first: looks at up to
-- `most`. Returns how many were taken away, and how many were looked at: less than `most` when none is left.
local function purge_state(keys, state, most)
  local ids, seen, met = {}, {}, 0
  local function take(ticket)
    local _, id = ticket_read(ticket)
    local envelope = id and not seen[id] and redis.call('HGET', keys.msg, id)
    if envelope and is_current(ticket, id, envelope, redis.call('HGET', keys.past, id)) then
      ids[#ids + 1], seen[id] = id, true
    end
    met = met + 1
  end

  if state == 1 then
    for _, line in ipairs({ keys.high, keys.ready, keys.low }) do
      local tickets = most > met and redis.call('LPOP', line, most - met) or {}
      for _, ticket in ipairs(tickets) do
        take(ticket)
      end
      if line == keys.ready and #tickets > 0 then
        count(keys.info, 'skew', #tickets)
      end
    end
  else
    local set = ({ nil, keys.delayed, keys.leased, keys.dead })[state]
    local tickets = redis.call('ZRANGE', set, 0, most - 1)
    redis.call('ZREMRANGEBYRANK', set, 0, most - 1)
    for _, ticket in ipairs(tickets) do
      take(ticket)
    end
  end
  if #ids > 0 then
    redis.call('HDEL', keys.msg, unpack(ids))
    redis.call('HDEL', keys.past, unpack(ids))
    count(keys.info, 'purged', #ids)
  end
  return #ids, met
end
