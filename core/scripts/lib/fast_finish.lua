-- needs acked_tickets after call delayed direct due events_due first format leased left long many
-- needs must_rewake n now ready ready_count result span state stop surplus us
-- includes fast_settle count_fast finish_reserve fast_keep
-- The last part of a fast reserve: it removes, counts and answers. long: the member that stands in
-- front of the leases if they are `many`. left: how many messages stay ready.
if many then
  acked_tickets[#acked_tickets + 1] = long
end
local acked_count = #acked_tickets > 0
  and call('ZREM', leased, unpack(acked_tickets)) - (many and 1 or 0) or 0
if surplus > 0 then
  call('RPUSH', ready, unpack(due, direct + 1))
end
if ready_count == 1 then
  call('LPOP', ready)
elseif ready_count > 0 then
  call('LTRIM', ready, format('%d', ready_count), '-1')
end
if due and #due > 0 then
  call('ZREMRANGEBYRANK', delayed, '0', #due == 1 and '0' or format('%d', #due - 1))
end
-- include fast_settle
local fields, is_new = must_rewake and {}, events_due
if n > 0 then
  local name, number, before = 'reserved', n, state[6]
  -- include count_fast
  if not first or stop - span < first then
    first, is_new = stop - span, true
  end
end
if acked_count > 0 then
  local name, number, before = 'acked', acked_count, state[7]
  -- include count_fast
end
if is_new or n == 0 or must_rewake then
  -- include finish_reserve
  result[2], result[3] =
    finish_reserve(n, left, first, state[1], fields or {}, events_due, direct, state[2], now,
      us, after)
end
-- include fast_keep
return result
