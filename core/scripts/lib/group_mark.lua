-- defines mark_read mark_write segment_field group_of
-- What `groups` holds of a group, as a table: waiting, how many tickets are in its line; turn, the
-- virtual time of its next turn (lib/turns.lua); and its line (lib/group_line.lua): head and tail,
-- tickets with newlines between them; at, the place in the head of its first ticket; first and
-- last, the numbers of the segments between head and tail (none: `last` is one less).

-- Returns nil if the bytes are no mark.
local function mark_read(bytes)
  if #bytes < 22 or string.byte(bytes) ~= 1 then
    return nil
  end
  local line, size, at = { at = 1 }, nil, nil
  line.waiting, line.turn, line.first, line.last, size, at =
    struct.unpack('>I4I7I4I4H', bytes, 2)
  line.head, line.tail = string.sub(bytes, at, at + size - 1), string.sub(bytes, at + size)
  local sound = #line.head == size and line.turn < 2 ^ 53 and line.first <= line.last + 1
  return sound and line or nil
end

local function mark_write(line)
  local head = string.sub(line.head, line.at)
  return struct.pack('>BI4I7I4I4H', 1, line.waiting, line.turn, line.first, line.last, #head)
    .. head .. line.tail
end

-- The field of `lines` that has this segment of a group's line.
local function segment_field(name, number)
  return string.format('%s\t%.0f', name, number)
end

-- The group's name as the suffix of a ticket has it. '': the message has no group.
local function group_of(suffix)
  return string.match(suffix or '', '=(.*)$') or ''
end
