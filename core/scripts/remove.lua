-- remove: takes a queue away, a bounded part of it at a time: first its messages, each as a whole, then what else
-- it had. What is pushed meanwhile is removed by a later step, or stays as a whole.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine rates received reply
-- args how many messages at most
-- Returns "messages taken away" or, when there is more to do, "messages taken away +".

local PART = 1000 -- of what is no message, in one step

look({
  HLEN = { msg, attempts, handover, meta }, LLEN = { ready, high, low, quarantine, rates },
  ZCARD = { delayed, leased, dead, outbox, unique, wake, received },
})
local removed, left, all = 0, tonumber(ARGV[4]), {}
for state = 1, 5 do
  if left > 0 then
    local ids, met = purge(state, left)
    removed, left = removed + #ids, left - met
    for _, id in ipairs(ids) do
      all[#all + 1] = id
    end
  end
end
local more = left == 0
if not more then
  -- There is no ticket any more, so what is left in these has none.
  local messages = redis.call('HRANDFIELD', msg, PART)
  local seen = {}
  for _, id in ipairs(all) do
    seen[id] = true
  end
  for _, id in ipairs(messages) do
    if not seen[id] then
      all[#all + 1], removed = id, removed + 1
    end
  end
  local records, tries = redis.call('HRANDFIELD', attempts, PART), redis.call('HRANDFIELD', handover, PART)
  more = #messages == PART or #records == PART or #tries == PART or redis.call('ZCARD', unique) > PART
    or redis.call('ZCARD', received) > PART
  for hash, ids in pairs({ [attempts] = records, [handover] = tries }) do
    if #ids > 0 then
      redis.call('HDEL', hash, unpack(ids))
    end
  end
  redis.call('ZREMRANGEBYRANK', unique, 0, PART - 1)
  redis.call('ZREMRANGEBYRANK', received, 0, PART - 1)
  redis.call('DEL', quarantine, rates)
elseif #all > 0 then
  redis.call('HDEL', attempts, unpack(all))
  redis.call('HDEL', handover, unpack(all))
end
if #all > 0 then
  redis.call('HDEL', msg, unpack(all))
end
if not more then
  redis.call('DEL', meta, wake)
end
return done(string.format('%d', removed) .. (more and ' +' or ''))
