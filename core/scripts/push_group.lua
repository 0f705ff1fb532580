-- push_group: stores messages that are due now, of which at least one has a group, and puts their
-- tickets at the ends of the lines of their groups. The core made their ids, so no message can have
-- them yet. Where tickets wait in `ready`, which must be sorted first, a mark cannot be read, or
-- groups have a backlog, it changes nothing and answers nil.
-- keys msg ready groups lines turns wake meta reply
-- includes return_problem group_name open_line wake count_fast keep_reply_inline
-- args id, envelope of each
-- passes on to push_group_sort
-- Returns a digit for each: 0 stored; or nil.
local call, argv, byte, format, pack, sub =
  redis.call, ARGV, string.byte, string.format, struct.pack, string.sub
local arrivals = redis.pcall('LLEN', ready)
if arrivals ~= 0 then
  local problem = type(arrivals) == 'table' and arrivals
  -- include return_problem
  return nil
end
-- The groups of the messages, and the place of each message's group.
local n, names, place_of = (#argv - 3) / 2, { nil }, { nil }
local places = n > 1 and {}
for i = 1, n do
  local envelope = argv[2 * i + 3]
  -- include group_name
  local place = places and places[name]
  if not place then
    place = #names + 1
    names[place] = name
    if places then
      places[name] = place
    end
  end
  place_of[i] = place
end
-- The last field tells that groups have a backlog (limit.lua).
local marks, last_place = nil, #names + 1
if n == 1 then
  marks = call('HMGET', groups, names[1], '\t')
else
  names[last_place] = '\t'
  marks = call('HMGET', groups, unpack(names))
  names[last_place] = nil
end
if marks[last_place] then
  return nil
end

-- Here a mark stays a text (lib/group_mark.lua): most of it does not change.
local fields, state, floor, last_joined, scores, segments = nil, nil, nil, nil, nil, nil
for i = 1, n do
  -- In the line of its group the ticket is only the id (lib/group_mark.lua, short_ticket).
  local ticket, place = argv[2 * i + 2], place_of[i]
  local mark, waiting, turn, first, last, head, at = marks[place], 0, 0, 1, 0, 0, 23
  if mark then
    if #mark < 22 or byte(mark) ~= 1 then
      return nil
    end
    waiting, turn, first, last, head, at = struct.unpack('>I4I7I4I4H', mark, 2)
    if first > last + 1 or at + head > #mark + 1 then
      return nil
    end
  end
  if first > last and (not mark or #mark == 22) then
    -- include open_line
  else
    local tail = at + head
    local size = #mark - tail + 1
    if size < 240 then
      marks[place] = '\1' .. pack('>I4', waiting + 1) .. sub(mark, 6)
        .. (size > 0 and '\n' .. ticket or ticket)
    else
      segments = segments or {}
      segments[#segments + 1] = format('%s\t%d', names[place], last + 1)
      segments[#segments + 1] = sub(mark, tail)
      marks[place] = '\1' .. pack('>I4', waiting + 1) .. sub(mark, 6, 16) .. pack('>I4', last + 1)
        .. sub(mark, 21, tail - 1) .. ticket
    end
  end
end

-- Tickets come first: a reserve drops a ticket without a message. If a key has another type, its
-- write ends the script, and it comes before the writes that make tickets count.
if segments then
  call('HSET', lines, unpack(segments))
end
if scores and scores[1] then
  call('ZADD', turns, unpack(scores))
end
if n == 1 then
  call('HSET', groups, names[1], marks[1])
else
  local words = {}
  for place = 1, #names do
    words[2 * place - 1], words[2 * place] = names[place], marks[place]
  end
  call('HSET', groups, unpack(words))
end
call('HSET', msg, unpack(argv, 4))
if fields then
  -- include wake
  wake_one(n > 1)
end
if scores and scores[1] then
  fields[#fields + 1], fields[#fields + 2] = 'turns', format('%d %d', floor, last_joined)
end
local name, number, before = 'pushed', n, fields and (state[2] or '0')
-- include count_fast
if fields and fields[1] then
  call('HSET', meta, unpack(fields))
end
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
