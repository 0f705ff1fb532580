-- defines turns_begin turns_meta lines_read line_join turn_take turn_undo turns_sort turns_left
-- defines write_turns remove_turns
-- needs groups lines turns
-- includes bulk group_mark group_line
-- Groups take turns by virtual time: start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996).
-- The group whose next turn has the lowest virtual time is served, and its next turn is UNIT later.
-- The floor is the virtual time of the last turn that was taken. A group that is new, or comes
-- back, gets a turn behind the floor: behind the group that came before it, so that groups take
-- turns in the order in which they came. A group of which nothing waits keeps its place in `turns`
-- until the floor passes it: so it gains nothing when its next message comes later.
--
-- The step between groups that come is small: many of them fit between the floor and the second
-- turn of a group that was served. Behind UNIT it is 1: a flood of new groups does not keep groups
-- with a second turn away for long.
local UNIT, STEP = 16384, 16
local floor, last_joined, noted, takes = 0, 0, '', false
-- The groups that this script has read, by name; and those in their order that may have the next
-- turn, from index `first_line` to `last_line`.
local known, order, first_line, last_line = {}, {}, 1, 0
-- How many members of `turns` were read; the virtual time of the last of them (huge: no other is
-- there) and its name; and how many turns were looked at.
local turns_seen, bound, bound_name, looked = 0, -1, '', 0
local unreadable = {}

-- text: the field `turns` of `meta`: "FLOOR LAST". What is no such text counts as 0 0. will_take:
-- turns are taken in this call. Else the lines need no order.
local function turns_begin(text, will_take)
  local at, joined = string.match(text or '', '^(%d+) (%d+)$')
  if at and #at < 16 and #joined < 16 then
    floor, last_joined = tonumber(at), tonumber(joined)
  end
  noted, takes = text, will_take
  redis.call('HLEN', groups)
  redis.call('HLEN', lines)
  redis.call('ZCARD', turns)
end

-- Adds what changes in `meta` to fields. If no group is left, the virtual time begins anew.
local function turns_meta(fields)
  local text = string.format('%.0f %.0f', floor, last_joined)
  if bound == math.huge and first_line > last_line then
    text = '0 0'
  end
  if text ~= noted then
    fields[#fields + 1], fields[#fields + 2] = 'turns', text
  end
end

-- Reads the marks of groups. What cannot be read goes to `unreadable`, and the group begins anew.
-- check finds the messages whose tickets were there.
local function lines_read(names)
  local new = {}
  for _, name in ipairs(names) do
    if not known[name] then
      known[name], new[#new + 1] = true, name
    end
  end
  local marks = #new > 0 and redis.call('HMGET', groups, unpack(new)) or {}
  for i, name in ipairs(new) do
    local line = marks[i] and mark_read(marks[i])
    if marks[i] and not line then
      unreadable[#unreadable + 1] = name .. '\t' .. marks[i]
    end
    line = line or line_new()
    line.name, line.is_stored, line.stored_turn = name, marks[i], line.turn
    known[name] = line
  end
end

-- Gives a line its place in the order. Of lines with the same virtual time, those that had it
-- before this call (`waited`) come first, in the order of `turns`, which is that of their names.
local function stand(line, waited)
  local at = last_line
  while at >= first_line and (order[at].turn > line.turn or waited and order[at].turn == line.turn
      and not (order[at].waited and order[at].name < line.name)) do
    order[at + 1] = order[at]
    at = at - 1
  end
  order[at + 1], last_line, line.stands, line.waited = line, last_line + 1, true, waited
end

-- The line of a group that was read, before a ticket joins it.
local function line_join(name)
  local line, waited = known[name], true
  if line_is_empty(line) and line.turn <= floor then
    local from = math.max(last_joined, floor)
    last_joined = from + (from < floor + UNIT and STEP or 1)
    line.turn, waited = last_joined, false
  end
  if takes and not line.stands then
    stand(line, waited)
  end
  return line
end

-- Reads the next members of `turns`.
local function turns_page(size)
  local page = redis.call('ZRANGE', turns, turns_seen, turns_seen + size - 1, 'WITHSCORES')
  local names = {}
  for i = 1, #page, 2 do
    names[#names + 1] = page[i]
  end
  lines_read(names)
  for _, name in ipairs(names) do
    local line = known[name]
    line.is_member = true
    if not line.stands then
      stand(line, true)
    end
  end
  turns_seen = turns_seen + #names
  bound, bound_name = #names == size and tonumber(page[#page]) or math.huge, names[#names]
end

-- Whether no group that was not read has a turn before this line's.
local function is_next(line)
  return line.turn < bound or line.turn == bound and line.waited and line.name <= bound_name
end

-- Takes the next ticket, at most from `size` groups that were not read before. Returns the ticket
-- and its line; nil: no group has one, or the script has looked at 400 turns.
local function turn_take(size)
  while looked < 400 do
    local line = first_line <= last_line and order[first_line]
    if bound < math.huge and not (line and is_next(line)) then
      turns_page(math.max(size, math.min(turns_seen, 200)))
    elseif not line then
      return nil
    else
      first_line, floor, looked = first_line + 1, math.max(floor, line.turn), looked + 1
      local ticket = line_take(line)
      if line.damaged then
        unreadable[#unreadable + 1], line.damaged = line.name .. '\t', nil
      end
      if ticket then
        line.turn = line.turn + UNIT
        stand(line)
        return ticket, line
      end
      line.stands = false
    end
  end
end

-- Takes a turn back: the ticket was not delivered. ticket: it stays in its line; nil: it is gone.
-- The caller sorts the turns after that.
local function turn_undo(line, ticket)
  line.turn = line.turn - UNIT
  if ticket then
    line_return(line, ticket)
    if not line.stands then
      -- This call had found the line empty.
      last_line = last_line + 1
      order[last_line], line.stands = line, true
    end
  end
end

local function turns_sort()
  local standing = { unpack(order, first_line, last_line) }
  order, first_line, last_line = {}, 1, 0
  for _, line in ipairs(standing) do
    stand(line, line.waited)
  end
end

-- How many tickets wait, as far as it matters: 0, 1 or more.
local function turns_left()
  local left = bound < math.huge and redis.call('ZCARD', turns) - turns_seen or 0
  for i = first_line, last_line do
    left = left + order[i].waiting
  end
  return left
end

-- Whether a group leaves: nothing of it waits, and the floor has passed its turn.
local function leaves(line)
  return line_is_empty(line) and line.turn <= floor
end

-- Writes what is new. remove_turns() removes what goes, after it.
local function write_turns()
  local marks, scores = {}, {}
  for name, line in pairs(known) do
    if not leaves(line) and (line.changed or not line.is_stored) then
      marks[#marks + 1], marks[#marks + 2] = name, mark_write(line)
    end
    if not leaves(line) and (line.turn ~= line.stored_turn or not line.is_stored) then
      scores[#scores + 1], scores[#scores + 2] = string.format('%.0f', line.turn), name
    end
  end
  write_segments()
  bulk('HSET', groups, marks)
  bulk('ZADD', turns, scores)
end

local function remove_turns()
  local gone = {}
  for name, line in pairs(known) do
    if leaves(line) and (line.is_stored or line.is_member) then
      gone[#gone + 1] = name
    end
  end
  bulk('ZREM', turns, gone)
  bulk('HDEL', groups, gone)
  remove_segments()
end
