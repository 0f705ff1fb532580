-- peek: shows messages of one state, a page at a time, and changes nothing.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] delayed   ZSET  ticket -> due, ms
-- KEYS[6] leased    ZSET  ticket -> end of lease, ms
-- KEYS[7] dead      ZSET  ticket -> when it died, ms
-- KEYS[8] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] outgoing  HASH  id -> due, ms, of messages that move to another queue
-- ARGV    state (1 ready, 2 delayed, 3 leased, 4 dead), cursor ('': the first page), how many
-- Returns { now ms, cursor of the next page ('': none), then for each message: its time in ms, ticket,
-- envelope, past ('' where there is none) }.
-- The cursor: of ready "line place", of the others as lib/page.lua, of those that move "> HSCAN's".
local msg, past, outgoing = KEYS[1], KEYS[8], KEYS[9]
local lines, sets = { KEYS[3], KEYS[2], KEYS[4] }, { nil, KEYS[5], KEYS[6], KEYS[7] }
-- include now
-- include int
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include page

local state, cursor, most = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local reply = { int(now_ms()), '' }

local function show(time, ticket, id)
  local envelope = id and redis.call('HGET', msg, id)
  local text = envelope and redis.call('HGET', past, id)
  if envelope and (not ticket or is_current(ticket, id, envelope, text)) then
    local at = #reply
    reply[at + 1], reply[at + 2] = int(tonumber(time) or 0), ticket or current_ticket(id, envelope, text)
    reply[at + 3], reply[at + 4] = envelope, text or ''
  end
end

local function show_ready()
  local line, place = string.match(cursor, '^([123]) (%d+)$')
  line, place = tonumber(line or 1), tonumber(place or 0)
  while most > 0 and line <= 3 do
    local tickets = redis.call('LRANGE', lines[line], place, place + most - 1)
    for _, ticket in ipairs(tickets) do
      show('0', ticket, select(2, ticket_read(ticket)))
    end
    most, place = most - #tickets, place + #tickets
    if most > 0 then
      line, place = line + 1, 0
    end
  end
  reply[2] = line <= 3 and string.format('%d %d', line, place) or ''
end

local function show_leaving()
  -- A step of HSCAN may bring more than it is asked for: the rest comes with the next page.
  local at, seen = string.match(cursor, '^> (%d+) (%d+)$')
  at, seen = at or '0', tonumber(seen or 0)
  local scan = redis.call('HSCAN', outgoing, at, 'COUNT', most)
  local stop = math.min(#scan[2] / 2, seen + most)
  for i = seen + 1, stop do
    show(scan[2][2 * i], nil, scan[2][2 * i - 1])
  end
  if stop < #scan[2] / 2 then
    reply[2] = string.format('> %s %d', at, stop)
  elseif scan[1] ~= '0' then
    reply[2] = '> ' .. scan[1] .. ' 0'
  end
end

if state == 1 then
  show_ready()
elseif state == 2 and string.byte(cursor) == 62 then
  show_leaving()
else
  local found
  found, reply[2] = page(sets[state], cursor, most)
  for i = 1, #found, 2 do
    show(found[i + 1], found[i], select(2, ticket_read(found[i])))
  end
  if state == 2 and reply[2] == '' and redis.call('HLEN', outgoing) > 0 then
    reply[2] = '> 0 0'
  end
end
return reply
