-- needs all_passed byte call events_due floor format gone groups ids left lines mark must_rewake n
-- needs name names segment sub tickets turn turns
-- Takes the first ticket of the group that has the next turn, as lib/turns.lua does, with few
-- instructions: a mark stays a text (lib/group_mark.lua). Groups of which nothing waits are passed.
-- If no group is left, all_passed is set. Where more than three of them come first, or a mark or a
-- segment is missing, it takes none, and lib/take_turns.lua begins anew. A short ticket is the id.
for rank = 0, 3 do
  local place = rank == 0 and '0' or format('%d', rank)
  name = call('ZRANGE', turns, place, place)[1]
  if not name then
    all_passed = true
    break
  end
  local bytes = call('HGET', groups, name)
  if not bytes or #bytes < 22 or byte(bytes) ~= 1 then
    break
  end
  local waiting, time, first_segment, last, size, at = struct.unpack('>I4I7I4I4H', bytes, 2)
  if first_segment > last + 1 or at + size > #bytes + 1 or time >= 9007199254740992 then
    break
  end
  if time > floor then
    floor = time
  end
  if #bytes == 22 and first_segment > last then
    gone = gone or {}
    gone[rank + 1] = name
  else
    -- The bytes `at` to `stop` of `text` are the head of the line. The tail follows them in `text`,
    -- or is `tail` if the head comes from a segment.
    local text, stop, tail = bytes, at + size - 1, ''
    if size == 0 and first_segment > last then
      stop = #bytes
    elseif size == 0 then
      segment, tail = format('%s\t%d', name, first_segment), sub(bytes, at)
      text, at = call('HGET', lines, segment), 1
      if not text or text == '' then
        break
      end
      first_segment, stop = first_segment + 1, #text
    end
    local mark_at = string.find(text, '\n', at, true)
    if not mark_at or mark_at > stop then
      mark_at = stop + 1
    end
    local ticket = sub(text, at, mark_at - 1)
    n, names[1], tickets[1] = 1, name, ticket
    if name ~= '' and not string.find(ticket, ':', 1, true) then
      ids[1], tickets[1] = ticket, '0.=' .. name .. ':' .. ticket
    end
    at = mark_at <= stop and mark_at + 1 or mark_at
    local rest = tail == '' and sub(text, at) or sub(text, at) .. tail
    waiting = rest == '' and first_segment > last and 0 or waiting > 2 and waiting - 1 or 1
    mark = struct.pack('>BI4I7I4I4H', 1, waiting, time + 16384, first_segment, last, stop - at + 1)
      .. rest
    turn = format('%d', time + 16384)
    if events_due or must_rewake then
      left = waiting + call('ZCARD', turns) - rank - 1
    end
    break
  end
end
