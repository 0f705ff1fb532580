-- Finishes the leased messages whose tickets are ARGV from `from` to `to`; usual: all are ids themselves;
-- first: the time noted in info as `next` (nil: none). Returns one digit for each.
-- include held
local function ack(keys, from, to, usual, first, now)
  local call, argv = redis.call, ARGV
  call('HLEN', keys.msg)
  call('HLEN', keys.past)
  -- A lease ends at its time, also before a reserve moves the message.
  local check = not first or first <= now
  local lost
  for i = from, to do
    local ticket = argv[i]
    if (check and not held(keys.leased, ticket, now)) or call('ZREM', keys.leased, ticket) == 0 then
      lost = lost or {}
      lost[i] = true
    end
  end
  if not lost and usual then
    call('HDEL', keys.msg, unpack(argv, from, to))
    count(keys.info, 'acked', to - from + 1)
    return string.rep('0', to - from + 1)
  end

  -- include ticket
  local outcome, ids = {}, {}
  for i = from, to do
    if lost and lost[i] then
      outcome[#outcome + 1] = DUEQ_LEASE_LOST
    else
      outcome[#outcome + 1] = DUEQ_OK
      ids[#ids + 1] = select(2, ticket_read(argv[i]))
    end
  end
  if #ids > 0 then
    call('HDEL', keys.msg, unpack(ids))
    call('HDEL', keys.past, unpack(ids))
    count(keys.info, 'acked', #ids)
  end
  return table.concat(outcome)
end
