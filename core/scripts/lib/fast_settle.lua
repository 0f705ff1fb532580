-- needs acked_count acked_tickets argv byte call ends leased msg outcomes result
-- Finishes the messages whose tickets have left `leased`.
if #argv == 8 then
  outcomes = acked_count == 1 and '0' or '4'
end
if acked_count > 0 then
  local acked_ids = { nil }
  for i = 1, acked_count do
    local mark = byte(acked_tickets[i], 2)
    acked_ids[i] = (mark == 46 or mark == 58) and string.match(acked_tickets[i], ':(.+)$')
      or acked_tickets[i]
  end
  local removed = redis.pcall('HDEL', msg, unpack(acked_ids))
  if type(removed) == 'table' then
    -- `msg` has another type: the messages stay leased.
    for i = 1, acked_count do
      call('ZADD', leased, ends, acked_tickets[i])
    end
    return removed
  end
end
result[7] = outcomes

