-- defines turns_begin turns_meta lines_read line_join turn_take turn_undo turn_return turns_sort
-- defines turns_left unreadable write_turns remove_turns
-- needs groups turns
-- defines floor; includes bulk group_mark group_line next_turn
-- Groups take turns by virtual time: start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996).
-- The group whose next turn has the lowest virtual time is served, and its next turn is UNIT later.
-- The floor is the virtual time of the last turn that was taken, and not given back with its
-- ticket. A group that is new, or comes back, gets a turn behind the floor: behind the group that
-- came before it, so that groups take turns in the order in which they came. A group of which
-- nothing waits keeps its place in `turns` until the floor passes it: so it gains nothing when its
-- next message comes later.
local UNIT = 16384
local floor, last_joined, noted, takes = 0, 0, '', false
-- The groups that this script has read, by name and as a list; and those in their order that may
-- have the next turn, from index `first_line` to `last_line`.
local known, met, order, first_line, last_line = {}, { nil }, { nil }, 1, 0
-- How many members of `turns` were read; the virtual time of the last of them (huge: no other is
-- there) and its name; and how many turns were looked at.
local turns_seen, bound, bound_name, looked = 0, -1, '', 0
local unreadable = { nil }
-- The functions of lib/group_limits.lua, where the queue has limits of groups; else nil. A group
-- that is at a limit leaves `turns` for `parked` (line.parks), until it may have a turn again.
local gate = nil

-- text: the field `turns` of `meta`: "FLOOR LAST". What is no such text counts as 0 0. will_take:
-- turns are taken in this call. Else the lines need no order.
local function turns_begin(text, will_take, limits_of_groups)
  local at, joined = string.match(text or '', '^(%d+) (%d+)$')
  if at and #at < 16 and #joined < 16 then
    floor, last_joined = at + 0, joined + 0
  end
  noted, takes, gate = text, will_take, limits_of_groups
end

-- Adds what changes in `meta` to fields. If no group is left, the virtual time begins anew. keeps:
-- it does not, as groups are in `parked`.
local function turns_meta(fields, keeps)
  local text = string.format('%d %d', floor, last_joined)
  if bound == math.huge and first_line > last_line and not keeps then
    text = '0 0'
  end
  if text ~= noted then
    fields[#fields + 1], fields[#fields + 2] = 'turns', text
  end
end

-- Reads the marks of groups. What cannot be read goes to `unreadable`, and the group begins anew.
-- check finds the messages whose tickets were there.
local function lines_read(names)
  local new, count = { nil }, 0
  for i = 1, #names do
    local name = names[i]
    if known[name] == nil then
      known[name], count = false, count + 1
      new[count] = name
    end
  end
  local marks = count == 1 and { redis.call('HGET', groups, new[1]) }
    or count > 1 and redis.call('HMGET', groups, unpack(new))
  for i = 1, count do
    local name, bytes = new[i], marks[i]
    local line = bytes and mark_read(bytes, name)
    if not line then
      line = mark_new(name)
      if bytes then
        unreadable[#unreadable + 1], line.stored_turn = name .. '\t' .. bytes, -1
      end
    end
    known[name], met[#met + 1] = line, line
  end
end

-- Gives a line its place in the order. Of lines with the same virtual time, those that had it
-- before this call (`waited`) come first, in the order of `turns`, which is that of their names.
local function stand(line, waited)
  local at, turn = last_line, line.turn
  while at >= first_line do
    local other = order[at]
    if other.turn < turn or other.turn == turn
      and not (waited and not (other.waited and other.name < line.name)) then
      break
    end
    order[at + 1], at = other, at - 1
  end
  order[at + 1], last_line, line.stands, line.waited = line, last_line + 1, true, waited
end

-- The line of a group that was read, before a ticket joins it.
local function line_join(name)
  local line, waited = known[name], true
  if line.turn <= floor and line_is_empty(line) then
    -- include next_turn
    line.turn, waited = last_joined, false
  end
  if takes and not line.stands then
    stand(line, waited)
  end
  return line
end

-- The functions that only turn_take() needs are in a block: a script has room for 200 local names.
local turn_take
do
  -- Gives lines that `turns` has in this order their places in the order of this call. If many
  -- joined before, stand() would walk past these for each.
  local function stand_all(lines)
    local at, stop = last_line, #lines
    last_line = last_line + stop
    for to = last_line, first_line, -1 do
      local line, other = lines[stop], at >= first_line and order[at]
      if not line then
        break
      elseif other and (other.turn > line.turn or other.turn == line.turn
        and not (other.waited and other.name < line.name)) then
        order[to], at = other, at - 1
      else
        order[to], stop, line.stands, line.waited = line, stop - 1, true, true
      end
    end
  end

  -- Reads the next members of `turns`.
  local function turns_page(size)
    local names = redis.call('ZRANGE', turns, string.format('%d', turns_seen),
      string.format('%d', turns_seen + size - 1))
    lines_read(names)
    if gate then
      gate.read(names)
    end
    local fresh, is_sorted = { nil }, true
    for i = 1, #names do
      local line = known[names[i]]
      line.is_member = true
      if not line.stands then
        is_sorted = is_sorted and not (fresh[1] and fresh[#fresh].turn > line.turn)
        fresh[#fresh + 1] = line
      end
    end
    if is_sorted then
      stand_all(fresh)
    end
    for i = 1, is_sorted and 0 or #fresh do
      stand(fresh[i], true)
    end
    turns_seen, bound, bound_name = turns_seen + #names, math.huge, names[#names]
    if #names == size then
      bound = known[bound_name].stored_turn or -1
    end
  end

  -- Whether no group that was not read has a turn before this line's.
  local function is_next(line)
    return line.turn < bound or line.turn == bound and line.waited and line.name <= bound_name
  end

  -- Ends a turn that its group has used: says when the next turn of the group is. A group that was
  -- in `parked` may have a virtual time below the floor. It gains nothing by that.
  local function turn_end(line)
    line.turn = gate and floor + gate.took(line.name) or line.turn + UNIT
    if gate and not line_is_empty(line) and not gate.is_open(line) then
      line.parks, line.stands = true, false
    else
      stand(line, false)
    end
  end

  -- Takes the next ticket, at most from `size` groups that were not read before. Returns the ticket
  -- and its line; nil: no group has one, or the script has looked at 400 turns.
  function turn_take(size)
    while looked < 400 do
      local line = order[first_line]
      if bound < math.huge and not (line and is_next(line)) then
        turns_page(math.max(size, math.min(turns_seen, 200)))
      elseif not line then
        return nil
      else
        first_line, looked = first_line + 1, looked + 1
        local is_closed = gate and not line_is_empty(line) and not gate.is_open(line)
        if not is_closed and line.turn > floor then
          floor = line.turn
        end
        local ticket = not is_closed and line_take(line)
        if line.damaged then
          unreadable[#unreadable + 1], line.damaged = line.name .. '\t', nil
        end
        if ticket then
          turn_end(line)
          return ticket, line
        end
        line.parks, line.stands = is_closed, false
      end
    end
  end
end

-- Takes a turn back: the ticket was not delivered. ticket: it stays in its line; nil: it is gone.
-- The caller sorts the turns after that.
local function turn_undo(line, ticket)
  line.turn = line.turn - (gate and gate.gave_back(line.name) or UNIT)
  if ticket then
    line_return(line, ticket)
  end
  if (ticket or line.parks) and not line.stands then
    -- This call had found the line empty, or its group at a limit.
    last_line = last_line + 1
    order[last_line], line.stands, line.parks = line, true, false
  end
end

-- Gives a group of `parked` that was read its place in the order again.
local function turn_return(name)
  local line = known[name]
  if not line.stands then
    stand(line, true)
  end
  line.parks = false
end

local function turns_sort()
  local standing = { unpack(order, first_line, last_line) }
  order, first_line, last_line = { nil }, 1, 0
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

local write_turns, remove_turns
do
  -- The groups that leave: nothing of them waits, and the floor has passed their turns; and those
  -- that leave `turns` for `parked`.
  local gone, parking = { nil }, { nil }

  -- Writes what is new. remove_turns() removes what goes, after it.
  function write_turns()
    local marks, scores, n, m = { nil, nil }, { nil, nil }, 0, 0
    for i = 1, #met do
      local line = met[i]
      local returns = gate and gate.returns(line)
      if line.turn <= floor and line_is_empty(line) then
        if line.stored_turn or line.is_member then
          gone[#gone + 1] = line.name
        end
      elseif line.changed or line.parks or returns then
        marks[n + 1], marks[n + 2], n = line.name, mark_write(line), n + 2
        if line.parks then
          parking[#parking + 1] = line.name
        elseif line.turn ~= line.stored_turn or returns then
          scores[m + 1], scores[m + 2], m = string.format('%d', line.turn), line.name, m + 2
        end
      end
    end
    write_segments()
    bulk('ZADD', turns, scores)
    bulk('HSET', groups, marks)
  end

  function remove_turns()
    bulk('HDEL', groups, gone)
    for i = 1, #parking do
      gone[#gone + 1] = parking[i]
    end
    bulk('ZREM', turns, gone)
    remove_segments()
  end
end
