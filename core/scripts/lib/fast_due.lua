-- needs after call delayed due first format head now recheck_at state
-- Reads what is due, at most 200 tickets, and when the next event is. state[2]: the timekeepers of
-- `meta`; state[4]: its `outbox_event`.
  local outbox_at = state[4] and tonumber(state[4])
  first = recheck_at
  if outbox_at and (not first or outbox_at < first) then
    first = outbox_at
  end
  if first and first <= now then
    return nil
  end
  -- As messages fall due one by one, the first two tell all, and a second timekeeper looks at the
  -- time of the third.
  local two = string.find(state[2] or '', ' ', 1, true)
  head = call('ZRANGE', delayed, '0', two and '2' or '1', 'WITHSCORES')
  local at, next_at = head[2] and head[2] + 0, head[4] and head[4] + 0
  if next_at and next_at <= now then
    due = call('ZRANGEBYSCORE', delayed, '-inf', format('%d', now), 'LIMIT', '0', '200')
    local next_due = format('%d', #due)
    next_at = call('ZRANGE', delayed, next_due, next_due, 'WITHSCORES')[2]
  elseif at and at <= now then
    due = { head[1] }
    after = two and (tonumber(head[6] or '') or math.huge)
  else
    due, next_at = {}, at
  end
  if next_at and not (first and first <= next_at + 0) then
    first = next_at + 0
  end
  first = first and first < 4102444800000 and math.ceil(first) or nil
