-- defines line_is_empty line_append line_return line_take next_head write_segments remove_segments
-- needs lines; includes bulk group_mark
-- The line of a group: its waiting tickets, the next one first. The first and the last tickets are
-- in the group's mark (lib/group_mark.lua), the others in `lines`, in segments: texts of at least
-- 240 bytes, under the group's name, a tab and a number that rises. Tickets and groups' names have
-- no control characters. The tickets are as short_ticket() makes them.
local fresh_segments, gone_segments, find, sub = nil, nil, string.find, string.sub

local function line_is_empty(line)
  return line.at > line.stop and line.first > line.last and line.added == ''
    and line.tail_at > #line.tail
end

local function put_segment(line, number, text)
  if not fresh_segments then
    -- If the key has another type, the script ends before its first write.
    redis.call('HLEN', lines)
    fresh_segments = {}
  end
  local field = segment_field(line.name, number)
  fresh_segments[field] = text
  if gone_segments then
    gone_segments[field] = nil
  end
end

local function line_append(line, ticket)
  local size = #line.tail - line.tail_at + 1 + #line.added
  ticket = short_ticket(line.name, ticket)
  if size == 0 and line.at > line.stop and line.first > line.last then
    line.head, line.at, line.stop = ticket, 1, #ticket
    line.tail, line.tail_at = '', 1
  elseif size == 0 then
    line.added = ticket
  elseif size < 240 then
    line.added = line.added .. '\n' .. ticket
  else
    local _, tail = mark_texts(line)
    line.last = line.last + 1
    put_segment(line, line.last, tail)
    line.tail, line.tail_at, line.added = '', 1, ticket
  end
  line.waiting, line.changed = line.waiting + 1, true
end

-- Puts a ticket at the front.
local function line_return(line, ticket)
  local rest = sub(line.head, line.at, line.stop)
  ticket = short_ticket(line.name, ticket)
  local head = rest == '' and ticket or ticket .. '\n' .. rest
  if #head >= 240 and line.first > 0 then
    line.first = line.first - 1
    put_segment(line, line.first, head)
    head = ''
  end
  line.head, line.at, line.stop = head, 1, #head
  line.waiting, line.changed = line.waiting + 1, true
end

-- Makes the first segment the head; if there is none, the tail. If a segment is not there, the line
-- loses its segments, and line.damaged is set.
local function next_head(line)
  local head = nil
  if line.first > line.last then
    local _, tail = mark_texts(line)
    head = tail
    line.tail, line.tail_at, line.added = '', 1, ''
  else
    local field = segment_field(line.name, line.first)
    head = fresh_segments and fresh_segments[field] or redis.call('HGET', lines, field)
    if not head then
      line.damaged, line.first = true, line.last
    end
    line.first = line.first + 1
    gone_segments = gone_segments or {}
    gone_segments[field] = true
    if fresh_segments then
      fresh_segments[field] = nil
    end
  end
  head = head or ''
  line.head, line.at, line.stop = head, 1, #head
end

-- Takes the first ticket; nil: the line is empty.
local function line_take(line)
  while line.at > line.stop and not line_is_empty(line) do
    next_head(line)
  end
  line.changed = true
  local at, stop, ticket = line.at, line.stop, nil
  if at <= stop then
    local mark = find(line.head, '\n', at, true)
    if mark and mark <= stop then
      line.at, line.waiting = mark + 1, line.waiting > 2 and line.waiting - 1 or 1
      return whole_ticket(line.name, sub(line.head, at, mark - 1))
    end
    ticket, line.at = whole_ticket(line.name, sub(line.head, at, stop)), stop + 1
  end
  line.waiting = line_is_empty(line) and 0 or line.waiting > 2 and line.waiting - 1 or 1
  return ticket
end

local function write_segments()
  if fresh_segments then
    local words = {}
    for field, text in pairs(fresh_segments) do
      words[#words + 1], words[#words + 2] = field, text
    end
    bulk('HSET', lines, words)
  end
end

local function remove_segments()
  if gone_segments then
    local words = {}
    for field in pairs(gone_segments) do
      words[#words + 1] = field
    end
    bulk('HDEL', lines, words)
  end
end
