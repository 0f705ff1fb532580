-- defines regroup; needs holds leased meta parked rated timers turns working
-- includes bulk clear each_page group_in now
-- The limits of groups have changed. Their script calls this before it writes `limited`. Groups
-- that were at a limit, or held, come back to `turns`, and the next reserves look at each of them.
-- Where the queue had no limits of groups, nobody has counted what is leased. Then this counts it,
-- in a time in proportion to it.
-- has_limits: the queue has limits of groups, or holds, from now on. leaving: a ticket that does
-- not count, as the script removes it from `leased`; or nil.
local function regroup(has_limits, leaving)
  local had = redis.call('HGET', meta, 'limited') == '2'
  local counts, words, gone = {}, { nil }, { nil }
  if has_limits and not had then
    each_page(leased, function(page)
      for i = 1, #page, 2 do
        local name = group_in(page[i])
        if name and page[i] ~= leaving then
          counts[name] = (counts[name] or 0) + 1
        end
      end
    end)
    for _, name in ipairs(redis.call('HKEYS', working)) do
      gone[#gone + 1] = not counts[name] and name or nil
    end
    for name, number in pairs(counts) do
      words[#words + 1], words[#words + 2] = name, string.format('%d', number)
      if #words == 2000 then
        bulk('HSET', working, words)
        words = { nil }
      end
    end
    bulk('HSET', working, words)
    redis.call('HSET', meta, 'served_from', string.format('%d', now_ms()))
  end
  if had then
    each_page(parked, function(page)
      for i = 1, #page, 2 do
        page[i], page[i + 1] = page[i + 1], page[i]
      end
      if #page > 0 then
        redis.call('ZADD', turns, 'NX', unpack(page))
      end
    end)
    clear_set(parked)
    clear_set(timers)
  end
  if has_limits then
    for at = 1, #gone, 1000 do
      redis.call('HDEL', working, unpack(gone, at, math.min(at + 999, #gone)))
    end
  elseif had then
    clear_hash(working)
    clear_set(rated)
    clear_set(holds)
  end
end
