-- defines strict_begin strict_waits strict_begins strict_ends strict_write strict_remove is_begun
-- needs attempts begun dead leased msg outbox
-- includes attempts begun begun_member bulk envelope_suffix group_line group_mark ticket
-- The order strict of groups: a message is delivered when the one before has ended for good. A
-- message that was delivered and comes back, for a retry for example, keeps its group waiting
-- until it is the first of the line.
local is_strict, holders, ended, fresh, gone, looks = false, {}, {}, { nil }, {}, 2000

local function strict_begin()
  is_strict = true
  -- If one of these keys has another type, the script fails here, before it has written.
  redis.call('ZCARD', begun)
  redis.call('ZCARD', dead)
  redis.call('ZCARD', outbox)
end

-- Whether a begun message of the group has not ended; nil: the call has looked at so many that have
-- ended that the next one must go on.
local function find_holder(name)
  local from, page = 0, { nil }
  repeat
    local size = looks > 100 and 100 or 10
    page = begun_page(name, from, size)
    for i = 1, #page do
      if not ended[page[i]] and begun_ticket(page[i]) then
        return true
      end
      gone[page[i]] = true
    end
    from, looks = from + #page, looks - #page
    if #page < size then
      return false
    end
  until looks <= 0
end

-- The first ticket of a line that is not empty. It stays.
local function line_first(line)
  while line.at > line.stop and not line_is_empty(line) do
    next_head(line)
    line.changed = true
  end
  local mark = string.find(line.head, '\n', line.at, true)
  local stop = mark and mark <= line.stop and mark - 1 or line.stop
  return whole_ticket(line.name, string.sub(line.head, line.at, stop))
end

-- Whether the ticket has no message. A later message of its id may have another suffix.
local function is_stale(ticket)
  local _, id, suffix = ticket_read(ticket)
  local envelope = id and redis.call('HGET', msg, id)
  return not envelope or #envelope > 1 and envelope_suffix(envelope) ~= suffix
end

-- None of the line's messages is leased. Returns whether the line must wait, because a message of
-- its group was begun, has not ended, and is not the first of the line; and whether this call does
-- not know that yet.
local function strict_waits(line)
  local name = line.name
  if holders[name] == nil then
    holders[name] = find_holder(name)
  end
  if holders[name] == false then
    return false, false
  elseif holders[name] == nil then
    return true, true
  end
  local ticket = line_first(line)
  local member = begun_member(ticket)
  local is_first = member and redis.call('ZSCORE', begun, member) or is_stale(ticket)
  return not is_first, false
end

-- The ticket's message is delivered.
local function strict_begins(ticket)
  fresh[#fresh + 1], fresh[#fresh + 2] = '0', begun_member(ticket)
end

-- The ticket's message ends in this call.
local function strict_ends(ticket)
  local member = is_strict and begun_member(ticket)
  if member then
    ended[member], holders[string.match(member, '^[^\t]+')] = true, nil
  end
end

-- Whether a ticket that comes to its line is that of a begun message: then it comes first.
local function is_begun(ticket)
  local member = is_strict and begun_member(ticket)
  return member and redis.call('ZSCORE', begun, member)
end

-- Nobody looks at a group again of which no other message comes. So for each message that a call
-- delivers, it looks at two members at a place that the time chooses, and removes those whose
-- messages have neither a lease nor attempts: these have ended.
local function sweep(us)
  local at = us % math.max(1, redis.call('ZCARD', begun))
  local page = redis.call('ZRANGE', begun, string.format('%d', at),
    string.format('%d', at + #fresh - 1))
  local suffixes, ids, tickets = { nil }, { nil }, { nil }
  for i = 1, #page do
    local name, own, id = string.match(page[i], '^([^\t]+)\t(!?%w*):(.+)$')
    suffixes[i], ids[i] = id and own .. '=' .. name or '', id or ''
    tickets[i] = '0.' .. suffixes[i] .. ':' .. ids[i]
  end
  local records = #page > 0 and redis.call('HMGET', attempts, unpack(ids))
  local leases = #page > 0 and redis.pcall('ZMSCORE', leased, unpack(tickets)) or {}
  for i = 1, leases.err and 0 or #page do
    if not leases[i] and attempts_read(records[i]).suffix ~= suffixes[i] then
      gone[page[i]] = true
    end
  end
end

-- us: the server's clock in microseconds.
local function strict_write(us)
  if #fresh > 0 then
    sweep(us)
  end
  for i = 2, #fresh, 2 do
    gone[fresh[i]] = nil
  end
  bulk('ZADD', begun, fresh)
end

local function strict_remove()
  local members = { nil }
  for member in pairs(gone) do
    members[#members + 1] = member
  end
  bulk('ZREM', begun, members)
end
