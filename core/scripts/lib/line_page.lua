-- defines line_page; needs groups lines parked turns; includes group_mark
-- Shows tickets of the lines of all groups: group by group in the order of their turns, and behind
-- them those in `parked`. cursor: '' for the first page, else "TURN NUMBER PLACE GROUP" of the last
-- ticket seen: its group, the number of its segment, and its place there; in `parked` a "p" stands
-- before it. The head counts as the segment before the first, the tail as the one behind the last.
-- visit(ticket) returns false when the page is full.
-- Returns the next cursor; '': that was all. It looks at 1,000 groups and segments at most.
local function line_page(cursor, visit)
  local start, turn, number, place, group =
    string.match(cursor, '^(p?)(%d+) (%d+) (%d+) (.*)$')
  local rank, looked, last = 0, 0, cursor
  local set = start == 'p' and parked or turns
  if turn then
    rank = redis.call('ZRANK', set, group) or redis.call('ZCOUNT', set, '-inf', '(' .. turn)
    number, place = tonumber(number), tonumber(place)
  end

  -- Shows the tickets of one text of a line. Returns whether the page has room.
  local function show(name, line, at, text)
    local index = 0
    for ticket in string.gmatch(text, '[^\n]+') do
      index = index + 1
      if name ~= group or at > number or at == number and index > place then
        if not visit(whole_ticket(name, ticket)) then
          return false
        end
        last = (start or '') .. string.format('%.0f %.0f %d ', line.turn, at, index) .. name
      end
    end
    looked = looked + 1
    return looked < 1000
  end

  while true do
    local page = redis.call('ZRANGE', set, rank, rank + 99, 'WITHSCORES')
    for i = 1, #page, 2 do
      local name = page[i]
      local line = mark_read(redis.call('HGET', groups, name) or '', name)
      local head, tail
      if line then
        head, tail = mark_texts(line)
      end
      local at = line and line.first - 1
      if line and name == group then
        at = math.min(math.max(at, number), line.last + 1)
      end
      while at and at <= line.last + 1 do
        local text = at < line.first and head or at > line.last and tail
          or redis.call('HGET', lines, segment_field(name, at))
        if not show(name, line, at, text or '') then
          return last
        end
        -- If a segment is missing, this page goes on with the tail of the line.
        at = text and at + 1 or line.last + 1
      end
      looked = looked + 1
      -- Behind all of this group.
      local score = math.min(math.max(tonumber(page[i + 1]) or 0, 0), 2 ^ 53)
      last = (start or '') .. string.format('%.0f 9000000000 0 ', score) .. name
      if looked >= 1000 then
        return last
      end
    end
    if #page < 200 and set == parked then
      return ''
    end
    rank = rank + 100
    if #page < 200 then
      set, start, rank = parked, 'p', 0
    end
  end
end
