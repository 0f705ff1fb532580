-- peek: shows messages of one state, a page at a time, and changes nothing.
-- keys msg ready high low delayed leased dead outbox attempts handover
-- args alone: state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), cursor ('': the first page), how many
-- Returns { now ms, cursor of the next page ('': none), then for each message: its time in ms, ticket,
-- envelope, attempts ('' where there are none) }. Of one in the outbox that could not be handed over, their error says
-- why.
-- The cursor: of ready "line place", of the others as lib/page.lua.

local state, cursor, most = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local answer = { int(now_ms()), '' }

local function show(time, ticket)
  local deliveries, id, suffix = ticket_read(ticket)
  local envelope = id and redis.call('HGET', msg, id)
  local text = envelope and redis.call('HGET', attempts, id)
  if not envelope or ticket ~= current_ticket(id, envelope, text) and envelope_read(envelope) then
    return
  end
  if state == 5 then
    local name, inner, stored = entry_read(id, envelope)
    local _, problem = string.match(redis.call('HGET', handover, id) or '', '^(%d+) (.*)$')
    local had = attempts_read(text)
    had.deliveries, had.suffix = deliveries, suffix
    had.error = problem and 'outbox: ' .. problem or had.error ~= '' and had.error or 'outbox: for ' .. (name or '?')
    if inner and inner ~= id then
      envelope, had.suffix = stored, envelope_suffix(stored)
      ticket = ticket_write(0, inner, had.suffix)
    end
    text = attempts_write(had)
  end
  for _, word in ipairs({ int(tonumber(time) or 0), ticket, envelope, text or '' }) do
    answer[#answer + 1] = word
  end
end

if state == 1 then
  local lines = { high, ready, low }
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
  answer[2] = line <= 3 and string.format('%d %d', line, place) or ''
else
  local found
  found, answer[2] = page(({ nil, delayed, leased, dead, outbox })[state], cursor, most)
  for i = 1, #found, 2 do
    show(found[i + 1], found[i])
  end
end
return answer
