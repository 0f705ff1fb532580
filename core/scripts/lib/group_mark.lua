-- defines mark_read mark_new mark_write mark_texts mark_put segment_field group_of
-- defines short_ticket whole_ticket
-- What `groups` holds of a group, as a table: waiting, how many tickets are in its line; turn, the
-- virtual time of its next turn (lib/turns.lua); and its line (lib/group_line.lua), tickets with
-- newlines between them: the head is a text, from `at` to `stop`; the tail is another text, from
-- `tail_at` on, and behind it `added`; first and last are the numbers of the segments between head
-- and tail (none: `last` is one less). A mark that was read is the text of both head and tail: so
-- it is cut and joined only once, when it is written. All fields are named at once, as Lua would
-- make room again for those that came later.

local pack, unpack_text, sub = struct.pack, struct.unpack, string.sub

-- Returns nil if the bytes are no mark.
local function mark_read(bytes, name)
  if #bytes < 22 then
    return nil
  end
  local version, waiting, turn, first, last, size, at = unpack_text('>BI4I7I4I4H', bytes)
  local stop = at + size - 1
  if version ~= 1 or stop > #bytes or turn >= 9007199254740992 or first > last + 1 then
    return nil
  end
  return {
    name = name, waiting = waiting, turn = turn, stored_turn = turn, first = first, last = last,
    head = bytes, at = at, stop = stop, tail = bytes, tail_at = stop + 1, added = '',
    stands = false, waited = false, changed = false, is_member = false,
  }
end

-- The mark of a group of which nothing is known.
local function mark_new(name)
  return {
    name = name, waiting = 0, turn = 0, stored_turn = false, first = 2 ^ 31, last = 2 ^ 31 - 1,
    head = '', at = 1, stop = 0, tail = '', tail_at = 1, added = '',
    stands = false, waited = false, changed = false, is_member = false,
  }
end

local function mark_write(line)
  local head, at, stop = line.head, line.at, line.stop
  local tail, tail_at = line.tail, line.tail_at
  local start = pack('>BI4I7I4I4H', 1, line.waiting, line.turn, line.first, line.last,
    stop - at + 1)
  if tail == head and tail_at == stop + 1 then
    return start .. sub(head, at) .. line.added
  end
  return start .. sub(head, at, stop) .. sub(tail, tail_at) .. line.added
end

-- The head and the tail as texts of their own.
local function mark_texts(line)
  return sub(line.head, line.at, line.stop), sub(line.tail, line.tail_at) .. line.added
end

local function mark_put(line, head, tail)
  line.head, line.at, line.stop = head, 1, #head
  line.tail, line.tail_at, line.added = tail, 1, ''
end

-- The field of `lines` that has this segment of a group's line.
local function segment_field(name, number)
  return string.format('%s\t%d', name, number)
end

-- How the line of the group `name` has a ticket: `0.=GROUP:ID` as ID alone, if ID has no colon.
-- Most tickets tell the first delivery of a message whose id the core made, and are such.
local function short_ticket(name, ticket)
  local start = '0.=' .. name .. ':'
  if name ~= '' and sub(ticket, 1, #start) == start
    and not string.find(ticket, ':', #start + 1, true) then
    return sub(ticket, #start + 1)
  end
  return ticket
end

-- The ticket that short_ticket() made short.
local function whole_ticket(name, ticket)
  if name ~= '' and not string.find(ticket, ':', 1, true) then
    return '0.=' .. name .. ':' .. ticket
  end
  return ticket
end

-- The group's name as the suffix of a ticket has it. '': the message has no group.
local function group_of(suffix)
  return string.match(suffix or '', '=(.*)$') or ''
end
