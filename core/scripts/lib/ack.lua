-- Finishes the leased messages whose tickets are ARGV from `from` to `to`; usual: all are ids themselves;
-- first: the time noted in info as `next` (nil: none). Returns one digit for each, and how many it finished.
-- include held
local function ack(msg, leased, past, from, to, usual, first, now)
  local call, argv, n = redis.call, ARGV, to - from + 1
  call('HLEN', msg)
  if not usual then
    call('HLEN', past)
  end
  -- A lease ends at its time, also before a reserve moves the message.
  local check = not first or first <= now
  local lost

  -- What came in one call has one end of its lease: then one look tells that all are held, and one command
  -- takes them out.
  local stop = n > 3 and call('ZSCORE', leased, argv[from])
  local together = stop and (not check or tonumber(stop) > now)
  if together then
    local there = {}
    for _, ticket in ipairs(call('ZRANGEBYSCORE', leased, stop, stop, 'LIMIT', 0, 2 * n)) do
      there[ticket] = true
    end
    for i = from, to do
      -- One that is named twice is lost the second time.
      together = together and there[argv[i]]
      there[argv[i]] = nil
    end
  end
  if together then
    call('ZREM', leased, unpack(argv, from, to))
  else
    for i = from, to do
      local ticket = argv[i]
      if (check and not held(leased, ticket, now)) or call('ZREM', leased, ticket) == 0 then
        lost = lost or {}
        lost[i] = true
      end
    end
  end
  if not lost and usual then
    call('HDEL', msg, unpack(argv, from, to))
    return string.rep('0', n), n
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
    call('HDEL', msg, unpack(ids))
    if not usual then
      call('HDEL', past, unpack(ids))
    end
  end
  return table.concat(outcome), #ids
end
