-- Checks the keys of queues at the end of each situation: each existing message is in exactly one
-- state, and in the lane of its priority or the line of its group if it is ready; each ticket
-- outside these has its message; the lines, the groups and the turns agree; a noted next event is
-- not later than the event; each note of a received entry is about an entry that is still in an
-- outbox.
-- KEYS    the prefixes of the queues' keys
-- ARGV[1] '1' if the situation damaged entries on purpose: then checks only that no message is in
--         two states
-- Returns the complaints, one line each.
local damaged = ARGV[1] == '1'
local complaints = {}

local function complain(...)
  complaints[#complaints + 1] = string.format(...)
end

-- The tag of a message's tickets, by its envelope. A successor in the outbox has no tag.
local function tag_of(envelope)
  if string.byte(envelope) == 0xD2 then
    return ''
  end
  local flags = string.byte(envelope, 2) or 0
  local stamp = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  local noted = string.byte(envelope) == 0xD3 and '!' or ''
  if flags >= 128 then
    local at = 5 + #stamp + (flags % 16 >= 8 and 8 or 0) + (flags % 4 >= 2 and 4 or 0)
    local group = string.sub(envelope, at + 1, at + (string.byte(envelope, at) or 0))
    return noted .. stamp .. '=' .. string.gsub(group, '[%% :]', function(mark)
      return string.format('%%%02X', string.byte(mark))
    end)
  end
  return noted .. stamp .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
end

-- The id of the ticket's message if that message exists. A ticket of an earlier push has another
-- stamp. A ticket without a count is an id.
local function living_id(queue, place, ticket)
  local tag, id = string.match(ticket, '^%d+%.?([^:]*):(.+)$')
  if not id then
    tag, id = '', ticket
  end
  local envelope = redis.call('HGET', queue .. 'msg', id)
  if envelope and (tag_of(envelope) == tag or place == 'dead' or damaged) then
    return id, tag
  end
end

-- The tickets in the lines of groups. Checks that the lines, the groups and the turns agree.
local function lines_of(queue)
  local tickets, marks, segments = {}, redis.call('HGETALL', queue .. 'groups'), 0
  -- The fields that have the backlogs of groups are no group's.
  for i = #marks - 1, 1, -2 do
    if string.byte(marks[i]) == 9 then
      table.remove(marks, i)
      table.remove(marks, i)
    end
  end
  for i = 1, #marks, 2 do
    local name, mark, count = marks[i], marks[i + 1], 0
    local waiting, turn, first, last, size, at = struct.unpack('>I4I7I4I4H', mark, 2)
    local texts = { string.sub(mark, at, at + size - 1), string.sub(mark, at + size) }
    for number = first, last do
      local text = redis.call('HGET', queue .. 'lines', string.format('%s\t%.0f', name, number))
      segments = segments + 1
      texts[#texts + 1] = text or ''
      if not text and not damaged then
        complain('the group %s has no segment %.0f', name, number)
      end
    end
    for _, text in ipairs(texts) do
      for form in string.gmatch(text, '[^\n]+') do
        local is_short = name ~= '' and not string.find(form, ':', 1, true)
        local ticket = is_short and '0.=' .. name .. ':' .. form or form
        tickets[#tickets + 1], count = ticket, count + 1
        if string.find(form, '^0%.=[^:]*:[^:]*$') and not damaged then
          complain('the ticket %s is whole in the line of %s', form, name)
        end
        local group = string.match(ticket, '^%d+%.!?%w*=([^:]*):') or ''
        if group ~= name and not damaged then
          complain('the ticket %s is in the line of %s', ticket, name)
        end
      end
    end
    if not damaged and count ~= waiting then
      complain('in the line of %s are %d tickets and not %d', name, count, waiting)
    end
    local score, time = redis.call('ZSCORE', queue .. 'turns', name),
      redis.call('ZSCORE', queue .. 'parked', name)
    if score and time and not damaged then
      complain('%s is in turns and in parked', name)
    end
    score = score or time
    if not damaged and tonumber(score or -1) ~= turn then
      complain('the turn of %s is %.0f and not %s', name, turn, tostring(score))
    end
  end
  if not damaged and redis.call('HLEN', queue .. 'lines') ~= segments then
    complain('lines has %d segments that are of no group',
      redis.call('HLEN', queue .. 'lines') - segments)
  end
  local standing = redis.call('ZCARD', queue .. 'turns') + redis.call('ZCARD', queue .. 'parked')
  if not damaged and standing ~= #marks / 2 then
    complain('turns has groups that are not in groups')
  end
  if #marks > 0 and not damaged and not redis.call('HGET', queue .. 'meta', 'turns') then
    complain('there are groups and meta does not say so')
  end
  return tickets
end

-- Whether a message of the group was begun in the order strict, and waits for its time, or in
-- `ready` to be sorted.
local function has_holder(queue, group)
  local arrived = {}
  for _, ticket in ipairs(redis.call('LRANGE', queue .. 'ready', 0, -1)) do
    arrived[ticket] = true
  end
  local members = redis.call('ZRANGE', queue .. 'begun', '[' .. group .. '\t', '(' .. group .. '\n',
    'BYLEX')
  for _, member in ipairs(members) do
    local own, id = string.match(member, '\t(!?%w*):(.+)$')
    local number, suffix =
      string.match(redis.call('HGET', queue .. 'attempts', id) or '', '^(%d+) %d+ %d+ (%S+) ')
    local ticket = suffix == own .. '=' .. group and number .. '.' .. suffix .. ':' .. id
    if ticket and redis.call('HEXISTS', queue .. 'msg', id) == 1
      and (arrived[ticket] or redis.call('ZSCORE', queue .. 'delayed', ticket)) then
      return true
    end
  end
end

-- Checks how many leased messages of each group are counted, and that what is at a limit has some.
local function check_working(queue)
  local counts, keeps = {}, redis.call('HGET', queue .. 'meta', 'limited') == '2'
  for _, ticket in ipairs(keeps and redis.call('ZRANGE', queue .. 'leased', 0, -1) or {}) do
    local group = string.match(ticket, '^%d+%.!?%w*=([^:]*):')
    if group then
      counts[group] = (counts[group] or 0) + 1
    end
  end
  local noted = redis.call('HGETALL', queue .. 'working')
  for i = 1, #noted, 2 do
    if tonumber(noted[i + 1]) ~= counts[noted[i]] then
      complain('%s has %s leased and not %s', noted[i], tostring(counts[noted[i]]), noted[i + 1])
    end
    counts[noted[i]] = nil
  end
  for group, number in pairs(counts) do
    complain('%s has %d leased and not none', group, number)
  end
  for _, group in ipairs(redis.call('ZRANGE', queue .. 'parked', 0, -1)) do
    if redis.call('HEXISTS', queue .. 'working', group) == 0
      and not redis.call('ZSCORE', queue .. 'timers', group) and not has_holder(queue, group) then
      complain('%s waits for nothing', group)
    end
  end
end

local function check_states(queue)
  local places, existing = {}, 0
  local function note(place, id)
    if places[id] then
      complain('%s is %s and %s', id, places[id], place)
    else
      existing = existing + 1
    end
    places[id] = place
  end
  local function note_tickets(place, tickets, lane)
    for _, ticket in ipairs(tickets) do
      local id, tag = living_id(queue, place, ticket)
      if id then
        note(place, id)
        local plain = #string.gsub(tag, '^!', '') % 10 == 0 or string.find(tag, '=', 1, true)
        local own = plain and 'ready' or string.sub(tag, -1) == 'h' and 'high' or 'low'
        if lane and lane ~= own and not damaged then
          complain('the ticket %s is in %s', ticket, lane)
        end
      elseif not lane and not damaged then
        complain('the ticket %s is %s and has no message', ticket, place)
      end
    end
  end
  for _, lane in ipairs({ 'high', 'ready', 'low' }) do
    note_tickets('ready', redis.call('LRANGE', queue .. lane, 0, -1), lane)
  end
  note_tickets('ready', lines_of(queue), 'ready')
  for _, place in ipairs({ 'delayed', 'leased', 'dead', 'outbox' }) do
    note_tickets(place, redis.call('ZRANGE', queue .. place, 0, -1))
  end
  local held = redis.call('HLEN', queue .. 'msg')
  if held ~= existing and not damaged then
    complain('%d messages are stored and %d are in a state', held, existing)
  end
end

local function check_next(queue)
  for _, pair in ipairs({
    { 'delayed', 'next_event' },
    { 'leased', 'next_event' },
    { 'timers', 'next_event' },
    { 'outbox', 'next_event' },
    { 'outbox', 'outbox_event' },
  }) do
    local head = redis.call('ZRANGE', queue .. pair[1], 0, 0, 'WITHSCORES')[2]
    local event = tonumber(redis.call('HGET', queue .. 'meta', pair[2]) or '')
    -- A reserve that tells a relay of due entries looks again a second later.
    local later = pair[1] == 'outbox' and redis.call('TIME')[1] * 1000 + 2000 or 0
    if head and (not event or event > math.max(math.ceil(head), later)) then
      complain('the first of %s is at %s and %s is %s', pair[1], head, pair[2], tostring(event))
    end
  end
  if redis.call('LLEN', queue .. 'high') + redis.call('LLEN', queue .. 'low') > 0
    and redis.call('HGET', queue .. 'meta', 'has_priorities') ~= '1' then
    complain('high or low holds something and lists does not say so')
  end
end

-- Whether the entry that this note of `received` is about is still in an outbox.
local function is_on_its_way(note)
  for _, queue in ipairs(KEYS) do
    local name = string.match(queue, '^dueq:{(.*)}:$') .. '\n'
    local entry = string.sub(note, #name + 1)
    if string.sub(note, 1, #name) == name and redis.call('ZSCORE', queue .. 'outbox', entry) then
      return true
    end
  end
end

local function check_ways(queue)
  for _, ticket in ipairs(redis.call('ZRANGE', queue .. 'outbox', 0, -1)) do
    local id = string.match(ticket, '^%d+%.?[^:]*:(.+)$') or ticket
    local stored = redis.call('HGET', queue .. 'msg', id) or ''
    if string.byte(stored) ~= 0xD2 and redis.call('HEXISTS', queue .. 'attempts', id) == 0 then
      complain('%s is in the outbox and has no attempts', id)
    end
  end
  for _, id in ipairs(redis.call('HKEYS', queue .. 'handover')) do
    if redis.call('HEXISTS', queue .. 'msg', id) == 0 then
      complain('%s was to be relayed and has no message', id)
    end
  end
  for _, note in ipairs(redis.call('ZRANGE', queue .. 'received', 0, -1)) do
    if not is_on_its_way(note) then
      complain('%s was received and is no entry of an outbox', note)
    end
  end
end

-- Whether the queue has partitions. Then it has no messages, and no keys that could hold them.
local function has_partitions(queue)
  if redis.call('TYPE', queue .. 'msg').ok ~= 'string' then
    return false
  end
  for _, name in ipairs({ 'msg', 'ready', 'delayed' }) do
    if not string.match(redis.call('GET', queue .. name) or '', '^partitions %d+$') then
      complain('%s is no text of a queue of partitions', name)
    end
  end
  return true
end

-- Checks that each end is kept for a time, and how many bytes all of them have; and that only
-- messages whose ends are noted have a time at which their last delivery began.
local function check_ends(queue)
  local records, bytes, number, noted = redis.call('HGETALL', queue .. 'ends'), 0, 0, '0'
  for i = 1, #records, 2 do
    if records[i] == '' then
      noted = records[i + 1]
    else
      bytes, number = bytes + #records[i + 1], number + 1
      if not redis.call('ZSCORE', queue .. 'kept', records[i]) then
        complain('the end of %s is kept without end', records[i])
      end
    end
  end
  if redis.call('ZCARD', queue .. 'kept') ~= number then
    complain('%d ends are kept and not %d', number, redis.call('ZCARD', queue .. 'kept'))
  end
  if tonumber(noted) ~= bytes then
    complain('the ends have %d bytes and not %s', bytes, noted)
  end
  if number > 0 and (redis.call('PTTL', queue .. 'ends') < 0
      or redis.call('PTTL', queue .. 'kept') < 0) then
    complain('the ends do not expire')
  end
  for _, id in ipairs(redis.call('HKEYS', queue .. 'started')) do
    if string.byte(redis.call('HGET', queue .. 'msg', id) or '') ~= 0xD3 then
      complain('%s has started, and its end is not noted', id)
    end
  end
end

for _, queue in ipairs(KEYS) do
  local parts = has_partitions(queue)
  if not parts then
    check_states(queue)
  end
  if not parts and not damaged then
    check_next(queue)
    check_ways(queue)
    check_working(queue)
    check_ends(queue)
    for _, id in ipairs(redis.call('HKEYS', queue .. 'attempts')) do
      if redis.call('HEXISTS', queue .. 'msg', id) == 0 then
        complain('%s has a past and no message', id)
      end
    end
  end
end
return complaints
