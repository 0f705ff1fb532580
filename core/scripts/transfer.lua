-- transfer: brings messages of another queue that name this one, and are due, to this one.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[6] wake      ZSET  the wake marker
-- KEYS[7] info      HASH  next, claims, lists, counters
-- KEYS[8] bad       LIST  entries that were no tickets
-- KEYS[9] incoming  ZSET  "id newline queue" -> due, ms
-- OTHER   the keys of the queue that they are in
-- ARGV    its name, how many entries of `incoming` to look at
-- Returns how many entries were settled. Messages that cannot be brought are set aside as dead where they are.
-- include now
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include line
-- include wake
-- include bad
-- include other

local keys, from, source = {
  msg = KEYS[1], ready = KEYS[2], high = KEYS[3], low = KEYS[4], past = KEYS[5], wake = KEYS[6], info = KEYS[7],
}, other_keys(10), ARGV[1]
local incoming, bad = KEYS[9], KEYS[8]
line_check(keys)
redis.call('HLEN', keys.msg)
redis.call('HLEN', keys.past)
redis.call('LLEN', bad)
local now = now_ms()

-- A foreign value under the other queue's keys must not stop this one: its entries are set aside.
local foreign = false
for _, check in ipairs({
  redis.pcall('HLEN', from.msg), redis.pcall('HLEN', from.outgoing), redis.pcall('HLEN', from.past),
  redis.pcall('ZCARD', from.dead), redis.pcall('HLEN', from.info),
}) do
  if type(check) == 'table' then
    if not string.find(check.err, 'WRONGTYPE', 1, true) then
      return check
    end
    foreign = true
  end
end

local name = queue_of(keys.msg)
local arrived, settled = {}, 0
-- What went wrong counts as a delivery that is forgiven, so that whoever has the message next is told.
local function set_dead(id, past, reason)
  past.before, past.forgiven, past.text = past.before + 1, past.forgiven + 1, reason
  redis.call('ZADD', from.dead, string.format('%d', now), ticket_write(past.before, id, past.tag))
  redis.call('HSET', from.past, id, past_write(past))
  count(from.info, 'buried', 1)
end

local function bring(id, envelope, e)
  redis.call('HDEL', from.outgoing, id)
  local text = redis.call('HGET', from.past, id)
  local ticket, past = current_ticket(id, envelope, text)
  if not e then
    set_dead(id, past, 'damaged envelope')
    return
  end
  if e.expires and e.expires <= now then
    count(from.info, 'expired', 1)
  elseif redis.call('HSETNX', keys.msg, id, envelope) == 0 then
    set_dead(id, past, 'the queue ' .. name .. ' has a living message of this id')
    return
  else
    if text then
      redis.call('HSET', keys.past, id, text)
    end
    arrived[#arrived + 1] = ticket
  end
  redis.call('HDEL', from.msg, id)
  redis.call('HDEL', from.past, id)
end

for _, entry in ipairs(redis.call('ZRANGEBYSCORE', incoming, '-inf', string.format('%d', now), 'LIMIT', 0, ARGV[2])) do
  local id, queue = string.match(entry, '^(.*)\n(.-)$')
  if queue == source then
    settled = settled + 1
    local due = not foreign and tonumber(redis.call('HGET', from.outgoing, id) or '')
    local envelope = due and redis.call('HGET', from.msg, id)
    local e = envelope and envelope_read(envelope)
    -- A message that was cancelled, and one that took its id since and goes elsewhere, left this entry.
    local comes = envelope and (not e or e.to == name)
    if comes and due > now then
      redis.call('ZADD', incoming, string.format('%d', math.min(due, 8204889600000)), entry)
    else
      redis.call('ZREM', incoming, entry)
      if foreign then
        set_aside(bad, { entry })
        count(keys.info, 'damaged', 1)
      elseif comes then
        bring(id, envelope, e)
      end
    end
  end
end
if #arrived > 0 then
  count(keys.info, 'pushed', #arrived)
  if line_up(keys, arrived) then
    wake_one(keys.wake)
  end
end
return settled
