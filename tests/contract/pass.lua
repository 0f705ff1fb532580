-- Lets time pass for queues: each time that their keys note becomes ARGV[1] ms earlier.
-- KEYS  the prefixes of the queues' keys
-- A key that a situation broke stays as it is.
local ms = tonumber(ARGV[1])

-- unit: how many units of the scores a millisecond has.
local function shift_scores(set, unit)
  for _, member in ipairs(redis.pcall('ZRANGE', set, 0, -1)) do
    redis.pcall('ZINCRBY', set, -ms * unit, member)
  end
end

-- The envelope has the end of the message's time to live behind the stamp.
local function earlier(envelope)
  local flags, at = string.byte(envelope, 2), 5
  at = flags and flags % 2 == 1 and 15 or 5
  if flags and (flags < 96 or flags >= 128) and flags % 16 >= 8 and #envelope >= at + 7 then
    local expires = struct.unpack('>I8', envelope, at)
    if expires > ms then
      local head, rest = string.sub(envelope, 1, at - 1), string.sub(envelope, at + 8)
      return head .. struct.pack('>I8', expires - ms) .. rest
    end
  end
  return envelope
end

-- The outbox stores a successor's envelope and due time in the entry itself.
local function shift_message(msg, id, stored)
  local shifted
  if string.byte(stored) == 0xD2 then
    local entry = cmsgpack.unpack(string.sub(stored, 2))
    entry[3], entry[4] = earlier(entry[3]), string.format('@%d', string.sub(entry[4], 2) - ms)
    shifted = string.char(0xD2) .. cmsgpack.pack(entry)
  else
    shifted = earlier(stored)
  end
  if shifted ~= stored then
    redis.pcall('HSET', msg, id, shifted)
  end
end

-- The four times of a batch's record; the last is a length.
local function shift_batches(key)
  local found = redis.pcall('HGETALL', key)
  for i = 1, #found, 2 do
    local text = found[i + 1]
    if not string.find(found[i], '\t', 1, true) and #text >= 50 then
      local opened, closes, ended = struct.unpack('>I6I6I6', text, 27)
      redis.call('HSET', key, found[i], string.sub(text, 1, 26)
        .. struct.pack('>I6I6I6', opened - ms, closes - ms, ended > 0 and ended - ms or 0)
        .. string.sub(text, 45))
    end
  end
end

local function shift_history(rates)
  for i, text in ipairs(redis.pcall('LRANGE', rates, 0, -1)) do
    local time, rest = string.match(text, '^(%d+)( .*)$')
    if time then
      redis.pcall('LSET', rates, i - 1, string.format('%d', time - ms) .. rest)
    end
  end
end

local function shift_ends(queue)
  local records = redis.pcall('HGETALL', queue .. 'ends')
  for i = 1, #records, 2 do
    local outcome, time, began, rest = string.match(records[i + 1], '^(%l+) (%d+) (%d+)(\n.*)$')
    if outcome then
      began = began == '0' and 0 or began - ms
      redis.pcall('HSET', queue .. 'ends', records[i],
        string.format('%s %d %d', outcome, time - ms, began) .. rest)
    end
  end
  local started = redis.pcall('HGETALL', queue .. 'started')
  for i = 1, #started, 2 do
    redis.pcall('HINCRBY', queue .. 'started', started[i], -ms)
  end
  for _, name in ipairs({ 'ends', 'kept', 'awaited' }) do
    local left = redis.pcall('PTTL', queue .. name)
    if type(left) == 'number' and left > 0 then
      redis.pcall('PEXPIRE', queue .. name, left - ms)
    end
  end
end

for _, queue in ipairs(KEYS) do
  for _, name in ipairs({
    'delayed', 'leased', 'dead', 'outbox', 'unique', 'timers', 'holds', 'kept', 'awaited',
  }) do
    shift_scores(queue .. name, 1)
  end
  shift_ends(queue)
  shift_scores(queue .. 'rated', 1000)
  local messages = redis.pcall('HGETALL', queue .. 'msg')
  for i = 1, #messages, 2 do
    shift_message(queue .. 'msg', messages[i], messages[i + 1])
  end
  shift_history(queue .. 'rates')
  shift_batches(queue .. 'batches')
  shift_batches(queue .. 'batch_ends')
  for name, less in pairs({ next = ms * 1000, since = ms }) do
    if redis.pcall('HEXISTS', queue .. 'limits', name) == 1 then
      redis.pcall('HINCRBYFLOAT', queue .. 'limits', name, string.format('%d', -less))
    end
  end
  local minutes = math.floor(ms / 60000)
  for name, less in pairs({ next_event = ms, outbox_event = ms, minute = minutes }) do
    if tonumber(redis.pcall('HGET', queue .. 'meta', name) or '') then
      redis.pcall('HINCRBY', queue .. 'meta', name, string.format('%d', -less))
    end
  end
  local suspect = redis.pcall('HMGET', queue .. 'meta', 'suspect')[1] or ''
  local since, ticket = string.match(suspect, '^(%d+) (.+)$')
  if ticket then
    redis.pcall('HSET', queue .. 'meta', 'suspect', string.format('%d ', since - ms) .. ticket)
  end
  for _, lock in ipairs(redis.pcall('KEYS', queue .. 'lock:*')) do
    redis.pcall('PEXPIRE', lock, redis.pcall('PTTL', lock) - ms)
  end
end
return 'OK'
