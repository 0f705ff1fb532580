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

-- Raises the errors of foreign values under the keys that store writes.
local function store_check(keys)
  line_check(keys)
  redis.call('HLEN', keys.msg)
  redis.call('HLEN', keys.past)
  redis.call('ZCARD', keys.delayed)
  redis.call('ZCARD', keys.leased)
  redis.call('ZCARD', keys.dead)
  redis.call('ZCARD', keys.taken)
end

-- Puts an envelope in the place of one of the same id, whose past is given as text. Returns the old one's ticket, or
-- nil where the message stays where it is (only with `keep`).
local function replace(keys, id, old, text, envelope, e, keep)
  local ticket = current_ticket(id, old, text)
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
    return nil
  end
  redis.call('HSET', keys.msg, id, envelope)
  return ticket
end

-- Stores the drafts in ARGV from `from` on: id, envelope, due, extra of each. Returns a digit for each: 0 stored,
-- 2 refused; or the server's error. Then nothing was stored: envelopes come first, and go again where their tickets
-- found no place. What replaced messages leave behind goes last.
local function store(keys, from, now)
  local outcome, fresh, olds, replaced, unique = {}, {}, {}, {}, {}
  local at_once, later, first, windows = {}, {}, nil, nil

  -- Is the id of the caller's own not unique for others any more?
  local function is_free(id)
    if windows == nil then
      windows = redis.call('ZCARD', keys.taken) > 0
    end
    return not windows or (tonumber(redis.call('ZSCORE', keys.taken, id) or '') or 0) <= now
  end

  local function put(id, envelope, due, extra)
    local ttl, unique_ms, existing = extra_read(extra)
    if ttl > 0 then
      envelope = expires_write(envelope, now + ttl)
    end
    local old, stored = existing > 0 and redis.call('HGET', keys.msg, id), true
    if old then
      local text = not replaced[id] and redis.call('HGET', keys.past, id)
      olds[#olds + 1] = { id, old }
      local ticket = replace(keys, id, old, text, envelope, envelope_read(envelope), existing == 2)
      stored = ticket
      if ticket then
        replaced[id] = replaced[id] or {}
        table.insert(replaced[id], ticket)
      end
    elseif (string.byte(envelope, 2) % 2 == 0 or is_free(id)) and redis.call('HSETNX', keys.msg, id, envelope) == 1 then
      fresh[#fresh + 1] = id
    else
      outcome[#outcome + 1] = DUEQ_DUPLICATE
      return
    end
    outcome[#outcome + 1] = DUEQ_OK
    if unique_ms > 0 then
      unique[#unique + 1] = string.format('%d', now + unique_ms)
      unique[#unique + 1] = id
    end
    local at = due_time(due, now)
    if stored and at <= now then
      at_once[#at_once + 1] = ticket_write(0, id, envelope_tag(envelope))
    elseif stored then
      later[#later + 1] = string.format('%d', at)
      later[#later + 1] = ticket_write(0, id, envelope_tag(envelope))
      first = math.min(first or at, at)
    end
  end

  local fine, problem = pcall(function()
    for i = from, #ARGV, 4 do
      put(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
    end
    if #later > 0 then
      redis.call('ZADD', keys.delayed, unpack(later))
    end
    if #at_once > 0 and line_up(keys, at_once) then
      wake_one(keys.wake)
    end
  end)
  if not fine then
    for i = #olds, 1, -1 do
      redis.pcall('HSET', keys.msg, olds[i][1], olds[i][2])
    end
    if #fresh > 0 then
      redis.pcall('HDEL', keys.msg, unpack(fresh))
    end
    for i = 2, #later, 2 do
      redis.pcall('ZREM', keys.delayed, later[i])
    end
    return type(problem) == 'table' and problem or { err = problem }
  end

  local gone = 0
  for id, tickets in pairs(replaced) do
    for _, set in ipairs({ keys.delayed, keys.leased, keys.dead }) do
      redis.pcall('ZREM', set, unpack(tickets))
    end
    redis.pcall('HDEL', keys.past, id)
    gone = gone + #tickets
  end
  if gone > 0 then
    count(keys.info, 'cancelled', gone)
  end
  if #fresh + gone > 0 then
    count(keys.info, 'pushed', #fresh + gone)
  end
  if #unique > 0 then
    redis.pcall('ZADD', keys.taken, unpack(unique))
  end
  if first then
    expect(keys.info, keys.wake, first, now)
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
