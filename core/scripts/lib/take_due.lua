-- needs byte call due floor format gone groups joined left mark n name names pack tickets turn
-- needs turns; includes group_of_ticket next_turn
-- One message is due, nothing is in `ready`, and one message is asked for. Where the line of its
-- group is empty, and nothing waits of the groups that have an earlier turn, the ticket does not go
-- through the line: the reserve takes it at once. Else it takes none, and lib/take_turns.lua begins
-- anew. If nothing else waits, all groups are forgotten: then `mark` stays nil.
local group = group_of_ticket(due[1])
local front = group and call('ZRANGE', turns, '0', '4') or {}
local marks = group and call('HMGET', groups, group, unpack(front)) or {}

-- The virtual time of a group, and whether nothing of it waits; nil: that is no mark.
local function read(bytes)
  if bytes and #bytes >= 22 and byte(bytes) == 1 then
    local time, first, last = struct.unpack('>I7I4I4', bytes, 6)
    return time < 9007199254740992 and time or nil, #bytes == 22 and first == last + 1
  end
end

local time, is_empty = 0, true
if marks[1] then
  time, is_empty = read(marks[1])
end
local is_next, is_new, following = time and is_empty and group, false, 0
if is_next and (time <= floor or not marks[1]) then
  local last_joined = joined + 0
  -- include next_turn
  time, joined, is_new = last_joined, format('%d', last_joined), true
end
for i = 1, is_next and #front or 0 do
  local other, at, is_over = front[i], read(marks[i + 1])
  local is_before = not at or at < time or at == time and (is_new or other < group)
  if other ~= group and not is_over then
    is_next, following = is_next and not is_before, following + 1
  elseif other ~= group and is_before then
    gone = gone or {}
    gone[#gone + 1] = other
  end
end
if is_next then
  n, name, names[1], tickets[1] = 1, group, group, due[1]
  left = following + (#front == 5 and 1 or 0)
  if left == 0 then
    gone, floor, joined = front[1] and front, 0, '0'
  else
    floor = time > floor and time or floor
    mark = pack('>BI4I7I4I4H', 1, 0, time + 16384, 2 ^ 31, 2 ^ 31 - 1, 0)
    turn = format('%d', time + 16384)
  end
else
  gone = nil
end
