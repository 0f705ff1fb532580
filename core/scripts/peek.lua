-- peek: shows messages of one state, a page at a time. Changes nothing.
-- keys msg ready high low delayed leased dead outbox attempts handover meta groups lines turns
-- keys parked
-- includes decimal now ticket message envelope outbox_entry attempts envelope_suffix preview
-- includes set_page line_page refuse_layout
-- args alone: state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), cursor ('': the first page),
--   how many, at most how many bytes of each body (0: all)
-- Returns { now ms, cursor of the next page ('': none), then for each message: its time in ms,
--   ticket, envelope, attempts ('': none), size of the whole envelope }. If a message in the outbox
--   could not be relayed, its error says why. A page ends with the message that brings the
--   envelopes to 16 MiB: other clients wait while the script reads them. A cursor of ready is a
--   place in the lanes, which follow each other, and behind them as lib/line_page.lua; of the other
--   states as lib/set_page.lua.

-- include refuse_layout
local state, cursor, most = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local answer, room = { decimal(now_ms()), '' }, 16777216

local function show(time, ticket)
  local deliveries, id, suffix = ticket_read(ticket)
  local m = id and find_message(id, {})
  if not m or ticket ~= m.ticket and envelope_read(m.envelope) then
    return
  end
  local envelope, text = m.envelope, m.text
  if state == 5 then
    local name, inner, stored = outbox_entry_read(id, envelope)
    if stored and string.byte(stored) == 0xD4 then
      -- A note for a batch is no message.
      return
    end
    local _, problem = string.match(redis.call('HGET', handover, id) or '', '^(%d+) (.*)$')
    local had = attempts_read(text)
    had.deliveries, had.suffix = deliveries, suffix
    had.error = problem and 'outbox: ' .. problem or had.error ~= '' and had.error
      or 'outbox: for ' .. (name or '?')
    if inner and inner ~= id then
      envelope, had.suffix = stored, envelope_suffix(stored)
      ticket = ticket_write(0, inner, had.suffix)
    end
    text = attempts_write(had)
  end
  room = room - #m.envelope
  for _, word in ipairs({
    decimal(tonumber(time) or 0), ticket, preview(envelope, ARGV[4]), text or '', #envelope,
  }) do
    answer[#answer + 1] = word
  end
end

if state == 1 and (cursor == 'lines' or string.find(cursor, ' ', 1, true)) then
  answer[2] = line_page(cursor == 'lines' and '' or cursor, function(ticket)
    if most == 0 or room <= 0 then
      return false
    end
    show('0', ticket)
    most = most - 1
    return true
  end)
elseif state == 1 then
  local place, passed = tonumber(cursor) or 0, 0
  for _, lane in ipairs({ high, ready, low }) do
    local from = math.max(place - passed, 0)
    for _, ticket in ipairs(most > 0 and redis.call('LRANGE', lane, from, from + most - 1) or {}) do
      if room > 0 then
        show('0', ticket)
        place, most = place + 1, room > 0 and most - 1 or 0
      end
    end
    passed = passed + redis.call('LLEN', lane)
  end
  local has_turns = redis.call('HEXISTS', meta, 'turns') == 1
  answer[2] = place < passed and string.format('%d', place) or has_turns and 'lines' or ''
else
  local found
  found, answer[2] = set_page(({ nil, delayed, leased, dead, outbox })[state], cursor, most)
  for i = 1, #found, 2 do
    show(found[i + 1], found[i])
    if room <= 0 and found[i + 2] then
      answer[2] = cursor_after(found[i], found[i + 1])
      break
    end
  end
end
return answer
