-- repartition: doubles the number of partitions, and opens the new ones. Until then they are
-- closed: consumers do not get them.
-- keys partitions msg ready delayed meta
-- includes now refuse_newer noop_write
-- args alone: the number to double (if the queue has another number, nothing is doubled), a
--   partition to note something of (or ''), and the note: '' it is open, else how far it has come
-- Returns { number of partitions, ms since it was doubled (-1: never), then for each of the upper
--   half how far it has come ('': it is open) }, or { 0 }: the queue has no partitions.

-- include refuse_newer
local count = tonumber(redis.call('HGET', partitions, 'count') or '')
if not count then
  return { 0 }
end
-- include noop_write
local now = now_ms()
local epoch, doubled = unpack(redis.call('HMGET', partitions, 'epoch', 'doubled'))
local half, fields, states = math.floor(count / 2), {}, {}
for p = half, count - 1 do
  fields[#fields + 1] = string.format('%d', p)
end
for i, state in ipairs(redis.call('HMGET', partitions, unpack(fields))) do
  -- The owner of an open partition, a consumer, has a longer name.
  states[i] = state and #state == 1 and state or ''
end

local changed, place, opens = {}, ARGV[3] and ARGV[2] - half + 1, false
if count == tonumber(ARGV[1]) and count <= 512 and table.concat(states) == '' then
  doubled, states = string.format('%d', now), {}
  for p = count, 2 * count - 1 do
    changed[#changed + 1], changed[#changed + 2] = string.format('%d', p), '-'
    states[#states + 1] = '-'
  end
  count = 2 * count
  changed[#changed + 1], changed[#changed + 2] = 'count', string.format('%d', count)
  changed[#changed + 1], changed[#changed + 2] = 'doubled', doubled
  for _, key in ipairs({ msg, ready, delayed }) do
    redis.call('SET', key, string.format('partitions %d', count))
  end
elseif place and (states[place] or '') ~= '' then
  states[place], opens = ARGV[3], ARGV[3] == ''
  changed = not opens and { ARGV[2], ARGV[3] } or {}
end
if #changed > 0 or opens then
  changed[#changed + 1], changed[#changed + 2] = 'epoch', string.format('%d', epoch + 1)
  redis.call('HSET', partitions, unpack(changed))
end
if opens then
  redis.call('HDEL', partitions, ARGV[2])
end
return { count, doubled and now - doubled or -1, unpack(states) }
