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
  error(answer.err)
end

-- A field of a hash.
local function field(key, name)
  return read_list('HMGET', key, name)[1]
end

-- The set that holds each ticket; false: none.
local function holders(tickets)
  local held = {}
  for _, set in ipairs(sets) do
    local scores = #tickets > 0 and read_list('ZMSCORE', set, unpack(tickets)) or {}
    for i = 1, #tickets do
      held[i] = held[i] or (scores[i] and set or false)
    end
  end
  return held
end

-- Can the message be read? In the outbox it must have somewhere to go.
local function is_readable(id, stored, set, e)
  if set == outbox then
    return e and e.dead_letter or not e and entry_read(id, stored)
  end
  return e
end

-- What is wrong with each ticket of a set (nil: of a line), false where nothing is; and the bytes that were read.
local function verdicts_of(tickets, set)
  local ids, verdicts, bytes, seen, held = {}, {}, 0, {}, holders(tickets)
  for i, ticket in ipairs(tickets) do
    ids[i] = select(2, ticket_read(ticket)) or ''
  end
  local stored = #ids > 0 and read_list('HMGET', msg, unpack(ids)) or {}
  local texts = #ids > 0 and read_list('HMGET', attempts, unpack(ids)) or {}
  for i, ticket in ipairs(tickets) do
    local deliveries, id, suffix = ticket_read(ticket)
    local e = stored[i] and envelope_read(stored[i])
    local current, had
    if deliveries and stored[i] then
      had = attempts_read(texts[i])
      current = ticket_write(had.deliveries, id, texts[i] and had.suffix or not texts[i] and e and e.suffix or nil)
      bytes = bytes + #stored[i]
    end
    verdicts[i] = not deliveries and 'garbage'
      or (not stored[i] or e and e.suffix ~= suffix) and 'stale'
      or (seen[ticket] or (held[i] or nil) ~= set) and 'doubled'
      or had.deliveries > deliveries and 'stale'
      or set ~= dead and not is_readable(id, stored[i], set, e) and 'damaged'
      or current ~= ticket and 'attempts'
    seen[ticket] = true
  end
  return verdicts, bytes
end
