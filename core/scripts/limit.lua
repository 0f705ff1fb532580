-- limit: sets limits of the queue.
-- keys msg limits meta wake
-- includes now wake noop_write refuse_layout
-- args alone: the concurrency (-1: it stays, 0: no limit); the rate, as "100/s" ('': it stays,
--   'none': no limit); the burst (-1: it stays, 0: as the rate says); the number of partitions, if
--   the queue is one of them, else 1
-- Returns a digit: 0 done, or an error: a burst without a rate.

-- include refuse_layout
local concurrency, rate, burst, partitions = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local had, fields, gone = {}, {}, {}
if concurrency ~= '0' or rate ~= 'none' then
  had = redis.call('HMGET', limits, 'concurrency', 'rate')
end
local has_rate = rate ~= 'none' and (rate ~= '' or had[2])
if burst ~= '-1' and burst ~= '0' and not has_rate then
  return redis.error_reply('INVALID the burst needs a rate, which the queue does not have')
end
local has_limits = has_rate or concurrency ~= '0' and (concurrency ~= '-1' or had[1])
local function set(name, value, stays, none)
  if value == none then
    gone[#gone + 1] = name
  elseif value ~= stays then
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
set('concurrency', concurrency, '-1', '0')
set('rate', rate, '', 'none')
set('burst', rate == 'none' and '0' or burst, '-1', '0')
set('partitions', partitions, '', '1')
-- The first reserve looks at all messages, as the time of the next event may be one of a limit.
local noted = { 'next_event', '0' }
-- include noop_write
if has_limits then
  if not (had[1] or had[2]) then
    set('since', string.format('%d', now_ms()), '', '')
  end
  noted = { 'next_event', '0', 'limited', '1', 'has_priorities', '1' }
  if #fields > 0 then
    redis.call('HSET', limits, unpack(fields))
  end
end
redis.call('HSET', meta, unpack(noted))
if has_limits and #gone > 0 then
  redis.call('HDEL', limits, unpack(gone))
elseif not has_limits then
  redis.call('UNLINK', limits)
  redis.call('HDEL', meta, 'limited', 'held')
end
wake_one(true)
return DUEQ_OK
