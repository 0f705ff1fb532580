-- What a call takes away it takes at its end, by one command for each key: so no key that it needs vanishes before.
-- Messages go before their tickets, of which one without a message is dropped when it is met.
local gone = { tickets = {}, ids = {}, records = {} }
local function remove_gone(set)
  if #gone.ids > 0 then
    redis.call('HDEL', msg, unpack(gone.ids))
  end
  if #gone.records > 0 then
    redis.call('HDEL', attempts, unpack(gone.records))
  end
  if #gone.tickets > 0 then
    redis.call('ZREM', set, unpack(gone.tickets))
  end
end
