-- defines check_lines in_line; needs begun groups limits lines parked ready turns
-- includes check_findings check_verdict group_mark ticket deferred_removals check_working
-- The stage `lines` of check: the marks of groups and the tickets in them, then the segments of the
-- lines, then the members of `turns`, then `working`, and the members of `parked` and of `begun`.
-- The cursor is the first letter of the key and a cursor of SCAN. A repair removes what it cannot
-- read. The messages whose tickets were there are found as lost.

-- A group's mark as a table; nil: there is none, or it cannot be read.
local function mark_of(name)
  return mark_read(read_list('HMGET', groups, name)[1] or '', name)
end

local function texts_of(name, line, from, to)
  local fields = {}
  for number = from, to do
    fields[#fields + 1] = segment_field(name, number)
  end
  return #fields > 0 and read_list('HMGET', lines, unpack(fields)) or {}
end

-- How many tickets a text has.
local function count_in(text)
  local _, number = string.gsub(text, '[^\n]+', '')
  return number
end

-- Judges the tickets of a text. Returns the text without those that a repair removes, and how many
-- these are. arrived: the tickets that are in `ready`: those are in two places.
local function judge_text(name, text, arrived)
  local kept, gone = {}, 0
  for form in string.gmatch(text, '[^\n]+') do
    local ticket = whole_ticket(name, form)
    local leaves, verdict = judge(nil, ticket)
    if not verdict and arrived[ticket] then
      report('doubled', ticket)
      leaves = repairs
    end
    if leaves then
      gone = gone + 1
    else
      kept[#kept + 1] = form
      answer[4][#answer[4] + 1] = ticket
    end
  end
  return table.concat(kept, '\n'), gone
end

-- Checks a group's mark, and the tickets in it. A line of more than 1,000 segments is not counted.
local function check_mark(name, bytes, arrived)
  local line = mark_read(bytes, name)
  if not line then
    report_removal('group', 'HDEL', groups, name)
    if repairs then
      defer_removal('ZREM', turns, name)
      defer_removal('ZREM', parked, name)
    end
    return
  end
  local head, tail = mark_texts(line)
  local gone, more
  head, gone = judge_text(name, head, arrived)
  tail, more = judge_text(name, tail, arrived)
  local counted = line.waiting - gone - more
  if line.last - line.first < 1000 then
    counted = count_in(head) + count_in(tail)
    local texts = texts_of(name, line, line.first, line.last)
    for i = 1, line.last - line.first + 1 do
      counted = counted + count_in(texts[i] or '')
      if not texts[i] then
        report('group', name)
        if repairs then
          redis.call('HSET', lines, segment_field(name, line.first + i - 1), '')
        end
      end
    end
  end
  local is_wrong = counted ~= line.waiting - gone - more
  if is_wrong then
    report('group', name)
  end
  if repairs and (is_wrong or gone + more > 0) then
    mark_put(line, head, tail)
    line.waiting = counted
    redis.call('HSET', groups, name, mark_write(line))
  end
  local time, away = read_list('ZMSCORE', turns, name)[1], read_list('ZMSCORE', parked, name)[1]
  if time and away or tonumber(time or away or -1) ~= line.turn then
    report('group', name)
    if repairs then
      redis.call('ZADD', turns, string.format('%.0f', line.turn), name)
      defer_removal('ZREM', parked, name)
    end
  end
end

-- Checks a segment: a group's line has it, and its tickets.
local function check_segment(field, text, arrived)
  local name, number = string.match(field, '^(.*)\t(%d+)$')
  local line = name and mark_of(name)
  number = tonumber(number or -1)
  if not line or number < line.first or number > line.last then
    report_removal('group', 'HDEL', lines, field)
    return
  end
  local kept, gone = judge_text(name, text, arrived)
  if repairs and gone > 0 then
    line.waiting = math.max(0, line.waiting - gone)
    redis.call('HSET', lines, field, kept)
    redis.call('HSET', groups, name, mark_write(line))
  end
end

-- The copies of backlogs that `groups` must have beside the marks, by their fields (limit.lua).
local function backlog_copies()
  local copies, set = {}, read_list('HGETALL', limits)
  for i = 1, #set, 2 do
    local of_one = string.match(set[i], '^g%.backlog:(.*)$')
    if of_one or set[i] == 'each.backlog' then
      copies['\t' .. (of_one or '')] = set[i + 1]
      copies['\t'] = copies['\t'] or '0'
    end
  end
  return copies
end

-- Checks the copies that are missing or another.
local function check_backlogs(copies)
  for field, value in pairs(copies) do
    if read_list('HMGET', groups, field)[1] ~= value then
      report('notes', 'backlog' .. field)
      if repairs then
        redis.call('HSET', groups, field, value)
      end
    end
  end
end

-- Whether a ticket is in the line of its group: in the mark, or in the 500 segments behind it or
-- before its end. While check went on, tickets moved between these.
local function in_line(ticket)
  local _, _, suffix = ticket_read(ticket)
  local name = group_of(suffix)
  local line = mark_of(name)
  if not line then
    return false
  end
  local form = short_ticket(name, ticket)
  local texts = texts_of(name, line, line.first, math.min(line.last, line.first + 499))
  local head, tail = mark_texts(line)
  for _, text in ipairs({
    head, tail, unpack(texts_of(name, line, math.max(line.last - 499, line.first), line.last)),
  }) do
    texts[#texts + 1] = text
  end
  for _, text in ipairs(texts) do
    if text and string.find('\n' .. text .. '\n', '\n' .. form .. '\n', 1, true) then
      return true
    end
  end
  return false
end

local function check_lines()
  local phase, at = string.match(cursor, '^([gltwpb])(%d+)$')
  phase, at = phase or 'g', at or '0'
  local key = ({ g = groups, l = lines, t = turns, p = parked, b = begun })[phase]
  if not key then
    check_working()
    answer[1] = 'p0'
    return
  end
  local command = (phase == 'g' or phase == 'l') and 'HSCAN' or 'ZSCAN'
  local page = read_list(command, key, at, 'COUNT', math.min(most, 100))
  local found, names, asked, arrived, copies = {}, {}, {}, {}, phase == 'g' and backlog_copies()
  for i = 1, #(page[2] or {}), 2 do
    local name = page[2][i]
    if phase ~= 'g' or string.byte(name) ~= 9 then
      names[#names + 1], found[name] = name, page[2][i + 1]
    elseif not copies[name] then
      report_removal('notes', 'HDEL', groups, name)
    end
  end
  if phase == 'g' and at == '0' then
    check_backlogs(copies)
  end
  -- SCAN has another order on each server.
  table.sort(names)
  answer[3] = #names
  for _, name in ipairs((phase == 'g' or phase == 'l') and names or {}) do
    local line, text, group = phase == 'g' and mark_read(found[name], name), '', name
    if line then
      text = table.concat({ mark_texts(line) }, '\n')
    elseif phase == 'l' then
      text, group = found[name], string.match(name, '^(.*)\t') or ''
    end
    for form in string.gmatch(text, '[^\n]+') do
      asked[#asked + 1], asked[#asked + 2] = whole_ticket(group, form), ''
    end
  end
  prefetch_tickets(#ARGV + 1, asked)
  for _, from in ipairs(#asked > 0 and { 0, -3000 } or {}) do
    for _, ticket in ipairs(read_list('LRANGE', ready, from, from == 0 and 2999 or -1)) do
      arrived[ticket] = true
    end
  end
  for _, name in ipairs(names) do
    if phase == 'g' then
      check_mark(name, found[name], arrived)
    elseif phase == 'l' then
      check_segment(name, found[name], arrived)
    elseif phase == 'b' then
      check_begun(name)
    elseif not read_list('HMGET', groups, name)[1] then
      report_removal('group', 'ZREM', key, name)
    elseif phase == 'p' then
      check_parked(name, found[name], in_line)
    end
  end
  local following = ({ g = 'l0', l = 't0', t = 'w0', p = 'b0', b = '' })[phase]
  answer[1] = (page[1] or '0') ~= '0' and phase .. page[1] or following
end
