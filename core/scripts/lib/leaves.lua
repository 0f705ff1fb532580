-- defines leaves write_left; needs attempts defer_removal meta msg parked timers turns working
-- includes at_work bulk group_in noop_write
-- What the limits of groups must know outside of a reserve: of tickets that leave `leased`, and of
-- messages that end while they wait. Such a message may have kept its group waiting, as it was
-- delivered before (lib/strict_order.lua).
-- `working` has how many tickets of each group are leased; `parked` the groups that are not in
-- `turns`, as they are at a limit, `timers` those of them that wait for a time.
local is_limited, leaving, by_name = nil, { nil }, {}

-- The script removes these tickets from `leased`; or, if they `wait`, it ends their messages, which
-- are not leased. It calls this before it writes: this reads how many places the groups of the
-- tickets have, and which of the groups are in `parked`.
local function leaves(tickets, wait)
  local new = { nil }
  for i = 1, #tickets do
    local was_begun = not wait or string.byte(tickets[i]) ~= 48
    local name = was_begun and group_in(tickets[i])
    if name and is_limited == nil then
      is_limited = redis.call('HGET', meta, 'limited') == '2'
      if is_limited then
        -- If one of these keys has another type, the script fails here, before it has written.
        redis.call('HLEN', msg)
        redis.call('HLEN', attempts)
        redis.call('ZCARD', turns)
      end
    end
    local group = name and is_limited and by_name[name]
    if name and is_limited and not group then
      group = { name = name, left = 0 }
      by_name[name], new[#new + 1], leaving[#leaving + 1] = group, name, group
    end
    if group then
      group.left = group.left + (wait and 0 or 1)
    end
  end
  if #new > 0 then
    local numbers, times, waits = redis.call('HMGET', working, unpack(new)),
      redis.call('ZMSCORE', parked, unpack(new)), redis.call('ZMSCORE', timers, unpack(new))
    for i, name in ipairs(new) do
      by_name[name].number, by_name[name].time = at_work(numbers[i]), not waits[i] and times[i]
    end
  end
end

-- Gives the places back, before run_removals(). Returns how many groups came back to `turns`.
local function write_left()
  local numbers, times = { nil }, { nil }
  if #leaving > 0 then
    -- include noop_write
  end
  for _, group in ipairs(leaving) do
    local number = group.number - group.left
    if group.left > 0 and number > 0 then
      numbers[#numbers + 1], numbers[#numbers + 2] = group.name, string.format('%d', number)
    elseif group.left > 0 then
      defer_removal('HDEL', working, group.name)
    end
    if group.time then
      times[#times + 1], times[#times + 2] = group.time, group.name
      defer_removal('ZREM', parked, group.name)
    end
  end
  bulk('HSET', working, numbers)
  if #times > 0 then
    redis.call('ZADD', turns, 'NX', unpack(times))
  end
  return #times / 2
end
