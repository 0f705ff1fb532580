-- defines line_new line_is_empty line_append line_return line_take write_segments remove_segments
-- needs lines; includes bulk group_mark
-- The line of a group: its waiting tickets, the next one first. The first and the last tickets are
-- in the group's mark (lib/group_mark.lua), the others in `lines`, in segments: texts of at least
-- 240 bytes, under the group's name, a tab and a number that rises. Tickets and groups' names have
-- no control characters.
local fresh_segments, gone_segments = {}, {}

local function line_new()
  return { waiting = 0, turn = 0, first = 2 ^ 31, last = 2 ^ 31 - 1, head = '', at = 1, tail = '' }
end

local function line_is_empty(line)
  return line.at > #line.head and line.first > line.last and line.tail == ''
end

local function put_segment(line, number, text)
  local field = segment_field(line.name, number)
  fresh_segments[field], gone_segments[field] = text, nil
end

local function line_append(line, ticket)
  if line_is_empty(line) then
    line.head, line.at = ticket, 1
  elseif line.tail == '' then
    line.tail = ticket
  elseif #line.tail < 240 then
    line.tail = line.tail .. '\n' .. ticket
  else
    line.last = line.last + 1
    put_segment(line, line.last, line.tail)
    line.tail = ticket
  end
  line.waiting, line.changed = line.waiting + 1, true
end

-- Puts a ticket at the front.
local function line_return(line, ticket)
  local rest = string.sub(line.head, line.at)
  line.head, line.at = rest == '' and ticket or ticket .. '\n' .. rest, 1
  if #line.head >= 240 and line.first > 0 then
    line.first = line.first - 1
    put_segment(line, line.first, line.head)
    line.head = ''
  end
  line.waiting, line.changed = line.waiting + 1, true
end

-- Takes the first ticket; nil: the line is empty. If a segment is not there, the line loses its
-- segments, and line.damaged is set.
local function line_take(line)
  while line.at > #line.head and not line_is_empty(line) do
    if line.first > line.last then
      line.head, line.tail = line.tail, ''
    else
      local field = segment_field(line.name, line.first)
      local text = fresh_segments[field] or redis.call('HGET', lines, field)
      if not text then
        line.damaged, line.first = true, line.last
      end
      line.head, line.first = text or '', line.first + 1
      fresh_segments[field], gone_segments[field] = nil, true
    end
    line.at = 1
  end
  local stop = (string.find(line.head, '\n', line.at, true) or #line.head + 1) - 1
  local ticket = stop >= line.at and string.sub(line.head, line.at, stop) or nil
  line.at = stop + 2
  line.changed = true
  line.waiting = line_is_empty(line) and 0 or math.max(1, line.waiting - 1)
  return ticket
end

local function write_segments()
  local words = {}
  for field, text in pairs(fresh_segments) do
    words[#words + 1], words[#words + 2] = field, text
  end
  bulk('HSET', lines, words)
end

local function remove_segments()
  local words = {}
  for field in pairs(gone_segments) do
    words[#words + 1] = field
  end
  bulk('HDEL', lines, words)
end
