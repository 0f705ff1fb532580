-- defines has_foreign check_types check_meta
-- needs attempts dead delayed failures groups handover high leased limits lines low meta msg
-- needs outbox parked quarantine rated rates ready received timers turns unique wake working
-- needs begun holds ends kept started awaited guests batches batch_ends served_even served_odd
-- includes check_findings decimal check_verdict limited_by wake
-- The keys that check looks at, by the type that each must have.
local function typed_keys()
  return {
    list = { ready, high, low, quarantine, rates, failures },
    hash = { msg, attempts, handover, meta, groups, lines, limits, working, ends, started, guests,
      batches, batch_ends, served_even, served_odd },
    zset = { delayed, leased, dead, outbox, unique, wake, received, turns, parked, timers,
      rated, holds, begun, kept, awaited },
  }
end

-- The type of a key that exists and is not of this kind; else nil.
local function foreign_type(key, kind)
  local is = redis.call('TYPE', key).ok
  return is ~= 'none' and is ~= kind and is or nil
end

local function has_foreign()
  for kind, keys in pairs(typed_keys()) do
    for _, key in ipairs(keys) do
      if foreign_type(key, kind) then
        return true
      end
    end
  end
  return false
end

-- Reports keys of another type. A repair renames them.
local function check_types()
  for kind, keys in pairs(typed_keys()) do
    for _, key in ipairs(keys) do
      local is = foreign_type(key, kind)
      if is then
        report('type', key .. ' ' .. is)
        local foreign = quarantine .. ':' .. string.match(key, '}:(.*)$')
        if repairs then
          redis.call('RENAME', key,
            redis.call('EXISTS', foreign) == 1 and foreign .. ':' .. decimal(now) or foreign)
        end
      end
    end
  end
end

-- Checks the fields of `meta` that note other keys' state, and the counters.
local function check_meta()
  if repairs then
    redis.call('HSET', meta, 'repairer', ARGV[5])
  end
  local names = {
    'pushed', 'reserved', 'acked', 'retried', 'expired', 'died', 'cancelled', 'purged',
    'quarantined', 'ready_offset', 'next_event', 'outbox_event', 'has_priorities', 'wire',
    'returned', 'turns', 'limited',
  }
  local values = read_list('HMGET', meta, unpack(names))
  -- Where it is 2 already, it stays so: then reserves look at limits of groups in vain.
  local waits = #read_list('ZRANGE', holds, 0, 0) + #read_list('ZRANGE', parked, 0, 0) > 0
  local limited = values[#names] ~= '2' and (waits and '2' or limited_by())
  local function head(key)
    local score = tonumber(read_list('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or '')
    return score and score <= 4102444800000 and math.max(0, math.ceil(score)) or math.huge
  end
  -- A reserve may leave ended leases to their holders. The note then says that a reserve must look
  -- again, at most 1 s later (lib/ended_leases.lua). check allows 2 s.
  local ended = math.max(head(leased), now + 2000)
  local earliest = {
    next_event = math.min(head(delayed), ended, head(outbox), head(timers)),
    outbox_event = head(outbox),
  }
  for i, name in ipairs(names) do
    local value, first, right = values[i] or '', earliest[name], nil
    local number = tonumber(value)
    if first and (value ~= '' and not number or first < (number or math.huge)) then
      right = first < math.huge and decimal(first) or ''
    elseif name == 'has_priorities' then
      right = value ~= '1'
        and #read_list('LRANGE', high, 0, 0) + #read_list('LRANGE', low, 0, 0)
          + #read_list('ZRANGE', turns, 0, 0) > 0 and '1'
        or value ~= '1' and (limited or values[#names] == '2') and '1' or nil
    elseif name == 'limited' then
      right = limited and value ~= limited and limited or nil
    elseif name == 'turns' then
      right = not string.find(value, '^%d+ %d+$')
        and (value ~= '' or #read_list('ZRANGE', turns, 0, 0) > 0) and '0 0' or nil
    elseif name == 'wire' then
      right = value ~= '' and value ~= '1' and '1' or nil
    elseif not first and value ~= ''
      and not string.find(value, '^%-?%d' .. string.rep('%d?', 14) .. '$') then
      right = '0'
    end
    if right then
      report('notes', name .. ' ' .. value)
    end
    if right and repairs then
      redis.call('HSET', meta, name, right)
      wake_one()
    end
  end
end
