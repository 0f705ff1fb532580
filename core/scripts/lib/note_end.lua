-- defines note_end note_acks note_starts noted_ends write_ends
-- needs awaited started ends kept msg
-- includes envelope deferred_removals decimal member_end damaged_member
-- The ends of messages that are noted: those whose envelopes begin with 0xD3. A script calls
-- note_end() for each message that it ends, and write_ends(now) before run_removals().
-- `ends`: id -> record, and '' -> how many bytes all records have. `kept`: id -> when the record
-- goes. `started`: id -> when its last delivery began. `awaited`: id -> until when clients wait.
local noted_ends = { nil }

-- outcome: acked, dead, cancelled, expired, purged; or replaced: another message has the id now,
-- and no end is kept. by: who ended it, "HOST PID" ('': not known). text: of acked the result
-- ('': none; else '=' and its bytes), of dead the error.
local function note_end(id, envelope, outcome, ticket, by, text)
  if string.byte(envelope) == 0xD3 then
    noted_ends[#noted_ends + 1] = {
      id = id, envelope = envelope, outcome = outcome, ticket = ticket, by = by, text = text,
    }
  end
end

-- The same of the messages of leased tickets that are acknowledged.
local function note_acks(tickets, by, text)
  for i = 1, #tickets do
    local id = string.match(tickets[i], '^%d+%.![^:]*:(.+)$')
    local envelope = id and redis.call('HGET', msg, id)
    if envelope then
      note_end(id, envelope, 'acked', tickets[i], by, text)
    end
  end
end

-- Notes that the deliveries begin that a reserve has selected (lib/select_messages.lua).
local function note_starts(now, selected)
  local words = { nil }
  for i, ticket in ipairs(selected.deliver) do
    if string.byte(selected.envelopes[i]) == 0xD3 then
      words[#words + 1], words[#words + 2] = string.match(ticket, ':(.*)$'), decimal(now)
    end
  end
  if #words > 0 then
    redis.pcall('HSET', started, unpack(words))
  end
end

-- The script has done its work by then, so a key of another type must not make it fail. Later
-- calls remove what is kept no longer, at most 100 each, and both keys expire with the last record:
-- an idle queue keeps nothing. count_here: as of lib/member_end.lua. Returns whether a relay has
-- work.
local function write_ends(now, count_here)
  if not noted_ends[1] then
    return false
  end
  local records, times, bytes, last, fresh, members = {}, {}, 0, 0, {}, { nil }
  for _, each in ipairs(noted_ends) do
    local e, began = envelope_read(each.envelope), redis.pcall('HGET', started, each.id)
    if type(began) == 'string' then
      defer_removal('HDEL', started, each.id)
    end
    if not e then
      -- include damaged_member
      e = damaged_member(each.envelope)
    end
    if e and e.batch then
      members[#members + 1], each.e = each, e
    end
    if e and e.keep and each.outcome ~= 'replaced' then
      local record = table.concat({
        each.outcome .. ' ' .. decimal(now) .. ' '
          .. (type(began) == 'string' and string.match(began, '^%d+$') or '0'),
        each.ticket, each.by, each.text,
      }, '\n')
      local size = redis.pcall('HSTRLEN', ends, each.id)
      bytes = bytes + #record - (type(size) == 'number' and size or 0)
      last, fresh[each.id] = math.max(last, now + e.keep), true
      records[#records + 1], records[#records + 2] = each.id, record
      times[#times + 1], times[#times + 2] = decimal(now + e.keep), each.id
    end
  end
  if #records > 0 then
    local final = redis.pcall('ZRANGE', kept, -1, -1, 'WITHSCORES')
    last = decimal(math.max(last, tonumber(final[2] or '') or 0))
    local over = redis.pcall('ZRANGEBYSCORE', kept, '-inf', decimal(now), 'LIMIT', 0, 100)
    for _, id in ipairs(over) do
      local size = not fresh[id] and redis.pcall('HSTRLEN', ends, id)
      if type(size) == 'number' then
        bytes = bytes - size
        defer_removal('HDEL', ends, id)
        defer_removal('ZREM', kept, id)
      end
    end
    if type(redis.pcall('HSET', ends, unpack(records))) == 'number' then
      redis.pcall('HINCRBY', ends, '', bytes)
      redis.pcall('PEXPIREAT', ends, last)
    end
    if type(redis.pcall('ZADD', kept, unpack(times))) == 'number' then
      redis.pcall('PEXPIREAT', kept, last)
    end
  end
  for _, each in ipairs(noted_ends) do
    if fresh[each.id] and type(redis.pcall('ZSCORE', awaited, each.id)) == 'string' then
      defer_removal('ZREM', awaited, each.id)
      -- A client that waits asks again after at most 15 s, if a slot that moves has no token.
      local token = string.sub(msg, 1, -4) .. 'end_wake:' .. each.id
      redis.pcall('ZADD', token, 0, 'w')
      redis.pcall('PEXPIRE', token, 60000)
    end
  end
  if #members == 0 then
    return false
  end
  -- include member_end
  for _, each in ipairs(members) do
    local marked = member_end(each.e, each.outcome, count_here)
    if each.outcome == 'dead' then
      redis.call('HSET', msg, each.id, marked)
    end
  end
  return write_member_ends(now)
end
