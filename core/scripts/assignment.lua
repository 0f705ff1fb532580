-- assignment: says how many partitions a queue has and, to a consumer, which of them are its own. A
-- consumer is a member until it has not called for the time that it gives. The members share the
-- partitions evenly. A member with too many learns so, and keeps them until it gives them up or is
-- no member any more. Then other members take them.
-- keys partitions members msg ready delayed wake meta
-- includes now refuse_newer noop_write
-- args alone: how many partitions the caller expects (it makes so many if the queue has none),
--   member, for how many ms it stays a member (0: it leaves), epoch of the table that it knows,
--   partitions that it gives up. A caller that is no member sends only '' and what chooses the
--   partitions of its messages, 'key' or 'group' ('': neither). The first one that is sent stays.
-- Returns { number of partitions (0: none, the queue has messages of its own), epoch, what chooses
--   partitions ('': nothing was told) }. If the member does not know this epoch: { number, epoch,
--   what chooses, how many of its own it must give up, its own ... }.

-- include refuse_newer
local count, epoch, chooser =
  unpack(redis.call('HMGET', partitions, 'count', 'epoch', 'chooser'))
count = tonumber(count or '')
chooser = (chooser == 'key' or chooser == 'group') and chooser or ''
if not count then
  if redis.call('EXISTS', msg) == 1 then
    return { 0, '', '' }
  end
  count, epoch = tonumber(ARGV[1]), '0'
  redis.call('HSET', partitions, 'count', ARGV[1], 'epoch', epoch)
  -- A client that does not know of the partitions cannot push messages where no consumer looks: see
  -- lib/refuse_partitioned.lua.
  for _, key in ipairs({ msg, ready, delayed }) do
    redis.call('SET', key, 'partitions ' .. ARGV[1])
  end
  redis.call('UNLINK', meta, wake)
end
local member, left = ARGV[2], tonumber(ARGV[3])
if member == '' then
  if chooser == '' and ARGV[3] ~= '' then
    chooser = ARGV[3]
    redis.call('HSET', partitions, 'chooser', chooser)
  end
  return { count, epoch, chooser }
end
-- include noop_write
local now = now_ms()
local ended =
  redis.call('ZRANGEBYSCORE', members, '-inf', string.format('%d', now), 'LIMIT', 0, 200)
local known = redis.call('ZSCORE', members, member)
if known and left > 0 and #ended == 0 and epoch == ARGV[4] and not ARGV[5] then
  redis.call('ZADD', members, string.format('%d', now + left), member)
  return { count, epoch, chooser }
end

-- Who is a member now, in an order that is the same for all of them.
local leaving, alive, order = {}, {}, {}
for _, name in ipairs(ended) do
  leaving[name] = name ~= member or nil
end
leaving[member] = left == 0 or nil
for _, name in ipairs(redis.call('ZRANGE', members, 0, -1)) do
  alive[name] = not leaving[name] or nil
end
alive[member] = left > 0 or nil
for name in pairs(alive) do
  order[#order + 1] = name
end
table.sort(order)

-- The owner of each partition: a member, nobody (false), or, while the queue grows, one character,
-- which says that the partition is closed.
local fields, given_up, owner, held_count, open = {}, {}, {}, {}, 0
for i = 5, #ARGV do
  given_up[tonumber(ARGV[i])] = true
end
for p = 0, count - 1 do
  fields[p + 1] = string.format('%d', p)
end
local owners = redis.call('HMGET', partitions, unpack(fields))
local changed, removed = {}, {}
for p = 0, count - 1 do
  local name = owners[p + 1]
  if name and #name > 1 and (not alive[name] or name == member and given_up[p]) then
    removed[fields[p + 1]], name = true, false
  end
  open = open + (name and #name == 1 and 0 or 1)
  owner[p] = name
  if name then
    held_count[name] = (held_count[name] or 0) + 1
  end
end

-- Each member gets `each` partitions. As many members as are left over get one more: the first that
-- have it already.
local each, extra, before, others = 0, 0, 0, 0
if #order > 0 then
  each, extra = math.floor(open / #order), open % #order
end
for _, name in ipairs(order) do
  local more = name ~= member and (held_count[name] or 0) > each and 1 or 0
  others = others + more
  before = before + (name < member and more or 0)
end
local most, own = left > 0 and each + (others < extra and 1 or 0) or 0, {}
for p = 0, count - 1 do
  if not owner[p] and (held_count[member] or 0) < most then
    owner[p], held_count[member] = member, (held_count[member] or 0) + 1
    changed[#changed + 1], changed[#changed + 2] = fields[p + 1], member
    removed[fields[p + 1]] = nil
  end
  if owner[p] == member then
    own[#own + 1] = p
  end
end

local was = {}
for field in pairs(removed) do
  was[#was + 1] = field
end
if #changed + #was + #ended > 0 or not known or left == 0 then
  epoch = string.format('%d', tonumber(epoch) + 1)
  changed[#changed + 1], changed[#changed + 2] = 'epoch', epoch
  redis.call('HSET', partitions, unpack(changed))
end
if left > 0 then
  redis.call('ZADD', members, string.format('%d', now + left), member)
end
if #was > 0 then
  redis.call('HDEL', partitions, unpack(was))
end
local names = {}
for name in pairs(leaving) do
  names[#names + 1] = name
end
if #names > 0 then
  redis.call('ZREM', members, unpack(names))
end
local surplus = math.max(0, #own - each - (before < extra and 1 or 0))
return { count, epoch, chooser, left > 0 and surplus or 0, unpack(own) }
