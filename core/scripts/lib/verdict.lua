-- The sets in which a ticket may be; where it is in several, the first holds it, and a line holds what no set does.
local sets = { leased, outbox, dead, delayed }

-- What a command answers that answers a list; a key of another type counts as empty.
local function read_list(...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then
    return answer
  elseif string.find(answer.err, 'WRONGTYPE') then
    return {}
  end
  -- Fails once more, with the server's own error.
  return redis.call(...)
end

-- A field of a hash.
local function field(key, name)
  return read_list('HMGET', key, name)[1]
end

-- The set that holds a ticket; nil: none.
local function place_of(ticket)
  for _, set in ipairs(sets) do
    if read_list('ZMSCORE', set, ticket)[1] then
      return set
    end
  end
end

-- Can the message be read? In the outbox it must have somewhere to go.
local function is_readable(id, stored, set, e)
  if set == outbox then
    return e and e.dead_letter or not e and entry_read(id, stored)
  end
  return e
end

-- What is wrong with a ticket of a set (nil: of a line), where `seen` were before it; and the bytes that were read. Nil:
-- nothing is.
local function verdict_of(ticket, set, seen)
  local deliveries, id, suffix = ticket_read(ticket)
  if not deliveries then
    return 'garbage', 0
  end
  local stored, text = field(msg, id), field(attempts, id)
  local e = stored and envelope_read(stored)
  if not stored or e and e.suffix ~= suffix then
    return 'stale', 0
  end
  local current, had = current_ticket(id, stored, text)
  local verdict = (seen[ticket] or place_of(ticket) ~= set) and 'doubled'
    or had.deliveries > deliveries and 'stale'
    or set ~= dead and not is_readable(id, stored, set, e) and 'damaged'
    or current ~= ticket and 'attempts'
  seen[ticket] = true
  return verdict or nil, #stored
end
