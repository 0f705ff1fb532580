-- defines line_page; needs groups lines turns; includes group_mark
-- Shows tickets of the lines of all groups: group by group in the order of their turns. cursor: ''
-- for the first page, else "TURN NUMBER PLACE GROUP" of the last ticket shown: its group, the
-- number of its segment, and its place there. The head counts as the segment before the first, the
-- tail as the one behind the last. visit(ticket) returns false when the page is full.
-- Returns the next cursor; '': that was all. It looks at 1,000 groups or segments at most.
local function line_page(cursor, visit)
  local turn, number, place, group = string.match(cursor, '^(%d+) (%d+) (%d+) (.*)$')
  local rank, looked, last = 0, 0, cursor
  if turn then
    rank = redis.call('ZRANK', turns, group) or redis.call('ZCOUNT', turns, '-inf', '(' .. turn)
    number, place = tonumber(number), tonumber(place)
  end
  while looked < 1000 do
    local page = redis.call('ZRANGE', turns, rank, rank + 99, 'WITHSCORES')
    if #page == 0 then
      return ''
    end
    for i = 1, #page, 2 do
      local name, line = page[i], mark_read(redis.call('HGET', groups, page[i]) or '')
      local from = line and line.first - 1
      if line and name == group then
        from = math.max(from, number)
      end
      for at = from or 1, line and line.last + 1 or 0 do
        local text = at < line.first and line.head or at > line.last and line.tail
          or redis.call('HGET', lines, string.format('%s\t%.0f', name, at)) or ''
        local index = 0
        looked = looked + 1
        for ticket in string.gmatch(text, '[^\n]+') do
          index = index + 1
          if name ~= group or at > number or index > place then
            if looked > 1000 or not visit(ticket) then
              return last
            end
            last = string.format('%.0f %.0f %d ', line.turn, at, index) .. name
          end
        end
      end
      looked = looked + 1
    end
    rank = rank + #page / 2
  end
  return last
end
