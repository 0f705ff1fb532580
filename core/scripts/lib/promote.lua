-- The first time in a set, in whole ms; nil when the set is empty.
local function head_of(set)
  local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  return head and math.max(0, math.min(math.floor(tonumber(head)), 4102444800000))
end

local function earlier(a, b)
  return (not b or (a and a < b)) and a or b
end

-- Moves what is due, and messages whose lease has ended, to their lines: at most `most` of each. Reads and
-- checks the type of every key before it writes. Returns the first time still to come (nil: none, now
-- or earlier: there is more to move), how many entries were moved, and how many were damaged.
local function promote(keys, now, most)
  local due_head, lease_head = head_of(keys.delayed), head_of(keys.leased)
  local first = earlier(due_head, lease_head)
  if not first or first > now then
    return first, 0, 0
  end

  local limit = string.format('%d', now)
  local due, ended, back, pasts, broken = {}, {}, {}, {}, {}
  line_check(keys)
  if due_head and due_head <= now then
    due = redis.call('ZRANGEBYSCORE', keys.delayed, '-inf', limit, 'LIMIT', 0, most)
  end
  if lease_head and lease_head <= now then
    ended = redis.call('ZRANGEBYSCORE', keys.leased, '-inf', limit, 'LIMIT', 0, most)
    redis.call('LLEN', keys.bad)
  end
  for _, ticket in ipairs(ended) do
    local before, id, tag = ticket_read(ticket)
    if before then
      local past = past_read(redis.call('HGET', keys.past, id))
      if redis.call('HEXISTS', keys.msg, id) == 1 then
        past.before, past.tag, past.crashes = before + 1, tag, past.crashes + 1
        back[#back + 1] = ticket_write(before + 1, id, tag)
        pasts[#pasts + 1] = id
        pasts[#pasts + 1] = past_write(past)
      end
    else
      broken[#broken + 1] = ticket
    end
  end

  if #due > 0 then
    redis.call('ZREMRANGEBYRANK', keys.delayed, 0, #due - 1)
    line_up(keys, due)
  end
  if #ended > 0 then
    redis.call('ZREMRANGEBYRANK', keys.leased, 0, #ended - 1)
  end
  if #back > 0 then
    line_up(keys, back)
  end
  if #pasts > 0 then
    redis.call('HSET', keys.past, unpack(pasts))
  end
  if #broken > 0 then
    set_aside(keys.bad, broken)
  end
  return earlier(head_of(keys.delayed), head_of(keys.leased)), #due + #back, #broken
end
