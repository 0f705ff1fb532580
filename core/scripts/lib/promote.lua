-- Moves what is due, and messages whose lease has ended, to ready: at most `most` of each. Reads and
-- checks the type of every key before it writes. Returns the first time still to come (nil: none, now
-- or earlier: there is more to move) and how many entries were damaged.
local function promote(keys, now, most)
  local limit = string.format('%d', now)
  local due = redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', limit, 'LIMIT', 0, most)
  local ended = redis.call('ZRANGEBYSCORE', keys.leased, '-inf', limit, 'LIMIT', 0, most)
  local back, pasts, broken = {}, {}, {}
  if #due + #ended > 0 then
    redis.call('LLEN', keys.ready)
  end
  if #ended > 0 then
    redis.call('ZCARD', keys.dead)
    for _, ticket in ipairs(ended) do
      local attempt, id = ticket_read(ticket)
      if attempt then
        local _, crashes, text = past_read(redis.call('HGET', keys.past, id))
        back[#back + 1] = ticket
        if redis.call('HEXISTS', keys.msg, id) == 1 then
          pasts[#pasts + 1] = id
          pasts[#pasts + 1] = past_write(attempt, crashes + 1, text)
        end
      else
        broken[#broken + 1] = limit
        broken[#broken + 1] = ticket
      end
    end
    redis.call('ZREMRANGEBYRANK', keys.leased, 0, #ended - 1)
  end
  if #due > 0 then
    redis.call('ZREMRANGEBYRANK', keys.delayed, 0, #due - 1)
    redis.call('RPUSH', keys.ready, unpack(due))
  end
  if #back > 0 then
    redis.call('RPUSH', keys.ready, unpack(back))
  end
  if #pasts > 0 then
    redis.call('HSET', keys.past, unpack(pasts))
  end
  if #broken > 0 then
    redis.call('ZADD', keys.dead, unpack(broken))
  end

  local first
  for _, set in ipairs({ keys.delayed, keys.leased }) do
    local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
    if head then
      head = math.max(0, math.min(math.floor(tonumber(head)), 4102444800000))
      if not first or head < first then
        first = head
      end
    end
  end
  return first, #broken / 2
end
