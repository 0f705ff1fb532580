-- needs byte call due floor format gone groups joined left mark n name names pack tickets turn turns
-- includes group_of_ticket next_turn
-- One message is due, nothing is in `ready`, and one message is asked for. Takes it as lib/turns.lua
-- does, but its ticket does not go through the line of its group: where that line is empty, and
-- nothing waits of the groups that have an earlier turn. Else it takes none, and
-- lib/take_turns.lua begins anew.
local group = group_of_ticket(due[1])
local front = group and call('ZRANGE', turns, '0', '4', 'WITHSCORES') or {}
local fields = { group, front[1], front[3], front[5], front[7], front[9] }
local marks = group and call('HMGET', groups, unpack(fields)) or {}

-- The virtual time of a group of which nothing waits; nil: another mark.
local function time_of(bytes)
  if bytes and #bytes == 22 and byte(bytes) == 1 then
    local time, first, last = struct.unpack('>I7I4I4', bytes, 6)
    return first == last + 1 and time < 9007199254740992 and time or nil
  end
end

local time = marks[1] and time_of(marks[1]) or marks[1] == false and 0
local is_next, is_new, following = time, false, 0
if time and (time <= floor or not marks[1]) then
  local last_joined = joined + 0
  -- include next_turn
  time, joined, is_new = last_joined, format('%d', last_joined), true
end
for i = 1, time and #front or 0, 2 do
  local other, at = front[i], front[i + 1] + 0
  local is_before = at < time or at == time and (is_new or other < group)
  if other ~= group and not time_of(marks[(i + 3) / 2]) then
    is_next, following = is_next and not is_before, following + 1
  elseif other ~= group and is_before then
    gone = gone or {}
    gone[#gone + 1] = other
  end
end
if is_next then
  floor = time > floor and time or floor
  n, name, names[1], tickets[1] = 1, group, group, due[1]
  mark = pack('>BI4I7I4I4H', 1, 0, time + 16384, 2 ^ 31, 2 ^ 31 - 1, 0)
  turn = format('%d', time + 16384)
  left = following + (#front == 10 and 1 or 0)
else
  gone = nil
end
