-- defines strict_begin strict_waits strict_begins strict_ends strict_write strict_remove is_begun
-- needs begun dead msg outbox
-- includes begun begun_member bulk envelope_suffix group_line ticket
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
  return string.sub(line.head, line.at, mark and mark <= line.stop and mark - 1 or line.stop)
end

-- Whether the ticket has no message.
local function is_stale(ticket)
  local _, id, suffix = ticket_read(ticket)
  if not id or string.byte(suffix or '=') == 61 then
    return not id or redis.call('HEXISTS', msg, id) == 0
  end
  local envelope = redis.call('HGET', msg, id)
  return not envelope or envelope_suffix(envelope) ~= suffix
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
  local member = begun_member(ticket)
  fresh[#fresh + 1], fresh[#fresh + 2], gone[member] = '0', member, nil
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

local function strict_write()
  bulk('ZADD', begun, fresh)
end

local function strict_remove()
  local members = { nil }
  for member in pairs(gone) do
    members[#members + 1] = member
  end
  bulk('ZREM', begun, members)
end
