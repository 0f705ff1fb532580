-- peek: shows messages of one state, a page at a time, and changes nothing.
-- KEYS[1] msg       HASH  id -> envelope
-- KEYS[2] ready     LIST  tickets in delivery order
-- KEYS[3] high      LIST  those of high priority
-- KEYS[4] low       LIST  those of low priority
-- KEYS[5] delayed   ZSET  ticket -> due, ms
-- KEYS[6] leased    ZSET  ticket -> end of lease, ms
-- KEYS[7] dead      ZSET  ticket -> when it died, ms
-- KEYS[8] past      HASH  id -> deliveries, forgiven, crashes, tag, last error
-- ARGV    state (1 ready, 2 delayed, 3 leased, 4 dead), cursor ('': the first page), how many
-- Returns { now ms, cursor of the next page ('': none), then for each message: its time in ms, ticket,
-- envelope, past ('' where there is none) }.
-- The cursor: of ready "line place", of the others as lib/page.lua.
local msg, past = KEYS[1], KEYS[8]
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

local function show(time, ticket)
  local _, id = ticket_read(ticket)
  local envelope = id and redis.call('HGET', msg, id)
  local text = envelope and redis.call('HGET', past, id)
  if envelope and is_current(ticket, id, envelope, text) then
    local at = #reply
    reply[at + 1], reply[at + 2] = int(tonumber(time) or 0), ticket
    reply[at + 3], reply[at + 4] = envelope, text or ''
  end
end

local function show_ready()
  local line, place = string.match(cursor, '^([123]) (%d+)$')
  line, place = tonumber(line or 1), tonumber(place or 0)
  while most > 0 and line <= 3 do
    local tickets = redis.call('LRANGE', lines[line], place, place + most - 1)
    for _, ticket in ipairs(tickets) do
      show('0', ticket)
    end
    most, place = most - #tickets, place + #tickets
    if most > 0 then
      line, place = line + 1, 0
    end
  end
  reply[2] = line <= 3 and string.format('%d %d', line, place) or ''
end

if state == 1 then
  show_ready()
else
  local found
  found, reply[2] = page(sets[state], cursor, most)
  for i = 1, #found, 2 do
    show(found[i + 1], found[i])
  end
end
return reply
