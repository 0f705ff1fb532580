-- grow: doubles the number of partitions, and opens the new ones, which are closed at first: consumers do not get them.
-- keys partitions meta
-- args alone: the number to double (where it is another, nothing is), a partition of which something is to be noted (or ''), and
--      that: '' it is open, else how far it has come
-- Returns { number of partitions, ms since it was doubled (-1: it never was), then for each of the upper half how far it
--         has come ('': it is open) }. There are no partitions: { 0 }.

-- include known
local count = tonumber(redis.call('HGET', partitions, 'count') or '')
if not count then
  return { 0 }
end
-- include permit
local now = now_ms()
local fields, states, changed = {}, {}, {}
local function read()
  for p = math.floor(count / 2), count - 1 do
    fields[#fields + 1] = string.format('%d', p)
  end
  for i, state in ipairs(redis.call('HMGET', partitions, unpack(fields))) do
    -- A member of the consumers has a longer name.
    states[i] = state and #state == 1 and state or ''
  end
end
read()
local grows = table.concat(states) == '' and count == tonumber(ARGV[1]) and count <= 512
if grows then
  for p = count, 2 * count - 1 do
    changed[#changed + 1], changed[#changed + 2] = string.format('%d', p), '-'
  end
  count = 2 * count
  changed[#changed + 1], changed[#changed + 2] = 'count', string.format('%d', count)
  changed[#changed + 1], changed[#changed + 2] = 'doubled', string.format('%d', now)
elseif ARGV[3] and ARGV[3] ~= '' then
  changed = { ARGV[2], ARGV[3] }
end
if #changed > 0 or ARGV[3] == '' then
  changed[#changed + 1], changed[#changed + 2] = 'epoch', redis.call('HGET', partitions, 'epoch') + 1
  redis.call('HSET', partitions, unpack(changed))
end
if ARGV[3] == '' and #redis.call('HGET', partitions, ARGV[2]) == 1 then
  redis.call('HDEL', partitions, ARGV[2])
end
fields, states = {}, {}
read()
local doubled = tonumber(redis.call('HGET', partitions, 'doubled') or '')
return { count, doubled and now - doubled or -1, unpack(states) }
