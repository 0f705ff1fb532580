-- defines read_list prefetch forget_prefetched field in_set place_of prefetch_tickets in_other_sets
-- defines is_plain is_readable verdict_of
-- needs attempts dead delayed leased msg outbox; includes ticket outbox_entry envelope message
-- The sets that may hold a ticket. If several have it, the first holds it. A lane holds a ticket
-- that no set has.
local sets = { leased, outbox, dead, delayed }

-- The reply of a command that returns a list. A key of another type counts as empty.
local function read_list(...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then
    return answer
  elseif string.find(answer.err, 'WRONGTYPE') then
    return {}
  end
  -- Any other error ends the script: the same call fails again, as an error of the server.
  return redis.call(...)
end

-- What one command read for many members, by key and member; false: the key does not have it.
local prefetched = {}

local function prefetch(command, key, members)
  local answers, known = #members > 0 and read_list(command, key, unpack(members)) or {}, {}
  for i, member in ipairs(members) do
    known[member] = answers[i] or false
  end
  prefetched[key] = known
  return known
end

-- After a repair, what was read is stale.
local function forget_prefetched()
  prefetched = {}
end

-- The value of a hash's field; false or nil: there is none.
local function field(key, name)
  local known = prefetched[key] and prefetched[key][name]
  if known == nil then
    known = read_list('HMGET', key, name)[1]
  end
  return known
end

local function in_set(set, ticket)
  local known = prefetched[set] and prefetched[set][ticket]
  if known == nil then
    known = read_list('ZMSCORE', set, ticket)[1]
  end
  return known
end

-- The set that holds a ticket; nil: none does.
local function place_of(ticket)
  for _, set in ipairs(sets) do
    if in_set(set, ticket) then
      return set
    end
  end
end

-- Reads at once what judging needs, for the tickets in ARGV from `from` on and for those of a page
-- of a set. Returns the tickets as a set.
local function prefetch_tickets(from, page)
  local tickets, ids, asked = {}, {}, {}
  for i = from, #ARGV do
    tickets[#tickets + 1] = ARGV[i]
  end
  for i = 1, #(page or {}), 2 do
    tickets[#tickets + 1] = page[i]
  end
  for _, ticket in ipairs(tickets) do
    local _, id = ticket_read(ticket)
    ids[#ids + 1], asked[ticket] = id, true
  end
  prefetch('HMGET', msg, ids)
  prefetch('HMGET', attempts, ids)
  for _, set in ipairs(sets) do
    prefetch('ZMSCORE', set, tickets)
  end
  return asked
end

-- The indexes of those tickets that a set other than their own has as well.
local function in_other_sets(tickets, own)
  local found, places = {}, {}
  for _, set in ipairs(sets) do
    local size = set ~= own and #tickets > 0 and redis.pcall('ZCARD', set)
    if type(size) == 'number' and size > 0 then
      local scores = redis.call('ZMSCORE', set, unpack(tickets))
      for i = 1, #tickets do
        found[i] = found[i] or scores[i]
      end
    end
  end
  for i = 1, #tickets do
    if found[i] then
      places[#places + 1] = i
    end
  end
  return places
end

-- Whether the id is its own ticket, and the envelope too simple to be corrupt.
local function is_plain(id, envelope)
  local version, flags = string.byte(envelope, 1, 2)
  return version == 0xD1 and flags == 0 and #envelope >= 4 and #id == 22
    and string.find(id, '^%w+$')
end

-- Whether the message can be read. In the outbox it must also have a target.
local function is_readable(id, stored, set, e)
  if set == outbox then
    return e and e.dead_letter or not e and outbox_entry_read(id, stored)
  end
  return e
end

-- What is wrong with a ticket of a set (nil: of a lane), and how many bytes were read. nil: nothing
-- is wrong. seen: the tickets that were judged before it.
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
    or set ~= dead and not is_readable(id, stored, set, e) and 'corrupt'
    or current ~= ticket and 'attempts'
  seen[ticket] = true
  return verdict or nil, #stored
end
