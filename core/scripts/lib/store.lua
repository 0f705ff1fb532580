-- What a draft asks beyond its envelope: "ttl unique existing", or '' for none of it.
local function extra_read(text)
  local ttl, unique, existing = string.match(text, '^(%d+) (%d+) (%d)$')
  return tonumber(ttl or 0), tonumber(unique or 0), tonumber(existing or 0)
end

-- Writes the end of the time to live into an envelope that has the field (flag 8).
local function expires_write(envelope, expires)
  local at = string.byte(envelope, 2) % 2 == 1 and 15 or 5
  return string.sub(envelope, 1, at - 1) .. struct.pack('>I8', expires) .. string.sub(envelope, at + 8)
end

-- Puts an envelope in the place of one of the same id. Returns whether the message stays where it is (only
-- with `keep`); else the old one is gone. The envelope goes first: a full server refuses it, not what shrinks.
local function replace(keys, id, old, envelope, e, keep)
  local past = redis.call('HGET', keys.past, id)
  local ticket = current_ticket(id, old, past)
  local elsewhere = redis.call('ZSCORE', keys.leased, ticket) or redis.call('ZSCORE', keys.dead, ticket)
  local _, _, tag = ticket_read(ticket)
  local stamp = tag and #tag >= 10 and string.sub(tag, 1, 10) or ''
  local stays = keep and not elsewhere and envelope_read(old)
  if stays and stamp .. string.sub(e.tag, 11) == (tag or '') then
    -- The same stamp, or none as before: the ticket stays the message's.
    local flags = string.byte(envelope, 2) - (stamp == '' and 1 or 0)
    local kept = string.sub(envelope, 1, 1) .. string.char(flags) .. string.sub(envelope, 3, 4) .. stamp
      .. string.sub(envelope, 15)
    redis.call('HSET', keys.msg, id, kept)
    return true
  end
  redis.call('HSET', keys.msg, id, envelope)
  for _, set in ipairs({ keys.delayed, keys.leased, keys.dead }) do
    redis.call('ZREM', set, ticket)
  end
  redis.call('HDEL', keys.past, id)
  count(keys.info, 'cancelled', 1)
end

-- Raises the errors of foreign values under the keys that store writes. Returns whether ids are unique
-- for a time.
local function store_check(keys)
  line_check(keys)
  redis.call('HLEN', keys.msg)
  redis.call('HLEN', keys.past)
  redis.call('ZCARD', keys.delayed)
  redis.call('ZCARD', keys.leased)
  redis.call('ZCARD', keys.dead)
  return redis.call('ZCARD', keys.taken) > 0
end

-- Stores the drafts in ARGV from `from` on: id, envelope, due, extra of each. `windows` is store_check's.
-- Returns a digit for each: 0 stored, 2 refused.
local function store(keys, from, now, windows)
  local outcome, at_once, later, first, stored = {}, {}, {}, nil, 0
  for i = from, #ARGV, 4 do
    local id, envelope, due = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    local ttl, unique, existing = extra_read(ARGV[i + 3])
    if ttl > 0 then
      envelope = expires_write(envelope, now + ttl)
    end
    local old = existing > 0 and redis.call('HGET', keys.msg, id)
    local free = old or not windows or (tonumber(redis.call('ZSCORE', keys.taken, id) or '') or 0) <= now
    local kept
    if old then
      if #later > 0 then
        -- It may be one of this call's own.
        redis.call('ZADD', keys.delayed, unpack(later))
        later = {}
      end
      local e = envelope_read(envelope)
      kept = replace(keys, id, old, envelope, e, existing == 2)
    elseif free then
      free = redis.call('HSETNX', keys.msg, id, envelope) == 1
    end
    outcome[#outcome + 1] = free and DUEQ_OK or DUEQ_DUPLICATE
    if free and unique > 0 then
      redis.call('ZADD', keys.taken, string.format('%d', now + unique), id)
    end
    stored = stored + (free and not kept and 1 or 0)
    if free and not kept then
      local at, flags = due_time(due, now), string.byte(envelope, 2)
      local e = flags ~= 0 and flags ~= 1 and envelope_read(envelope) or {}
      if flags == 1 then
        e.tag = string.sub(envelope, 5, 14)
      end
      local ticket = ticket_write(0, id, e.tag)
      if at <= now then
        at_once[#at_once + 1] = ticket
      else
        later[#later + 1] = string.format('%d', at)
        later[#later + 1] = ticket
        first = math.min(first or at, at)
      end
    end
  end

  if #later > 0 then
    redis.call('ZADD', keys.delayed, unpack(later))
  end
  if #at_once > 0 and line_up(keys, at_once) then
    wake_one(keys.wake)
  end
  if first then
    expect(keys.info, keys.wake, first, now)
  end
  if stored > 0 then
    count(keys.info, 'pushed', stored)
  end
  if windows then
    -- Times that are over go, faster than new ones come.
    local most = 100 + 2 * #outcome
    local over = redis.call('ZRANGEBYSCORE', keys.taken, '-inf', string.format('%d', now), 'LIMIT', 0, most)
    if #over > 0 then
      redis.call('ZREM', keys.taken, unpack(over))
    end
  end
  return table.concat(outcome)
end
