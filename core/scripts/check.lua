-- check: looks at a window of one key and says what is wrong there; it may repair that. It judges a message by all keys
-- at one moment. A key of another type counts as empty.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine rates received failures
-- args alone: '1' to repair, stage (one of the keys; or types, notes, lost, doubled), cursor ('': the first), how
--      many, mark of who repairs; then of lost and doubled tickets
-- Returns { next cursor ('': that was the last), bytes that were read, entries, tickets, then for each kind of finding its
--           name, how many and up to five examples }. Tickets: of msg, those that no set holds; of a line, those that hold a
--           message; of a set, of these those that `attempts` does not say.

-- include known
if repairs and stage ~= 'types' then
  -- include permit
end
local line = ({ high = high, ready = ready, low = low })[stage]
local set = ({ leased = leased, outbox = outbox, dead = dead, delayed = delayed })[stage]
if stage == 'types' then
  check_types()
elseif stage == 'notes' then
  check_notes()
elseif stage == 'msg' then
  local found, tickets = scan_page('HSCAN', msg), {}
  for i = 1, #found, 2 do
    answer[2] = answer[2] + #found[i + 1]
    tickets[#tickets + 1] = current_ticket(found[i], found[i + 1], field(attempts, found[i]))
  end
  for i, ticket in ipairs(tickets) do
    local id = found[2 * i - 1]
    if not ticket_read(ticket) then
      bad('garbage', 'HDEL', msg, id)
      if repairs then
        -- Nothing can hold it: it is kept where nobody looks for messages.
        redis.call('HSET', quarantine .. ':messages', id, found[2 * i])
      end
    elseif not place_of(ticket) then
      table.insert(answer[4], ticket)
    end
  end
elseif line then
  -- From the tail on, by the distance from there: what stays in the line is not passed by, whatever comes and goes.
  local place, last = string.match(cursor, '^(%d+) (.*)$')
  place = tonumber(place or 0)
  local tickets, goes = read_list('LRANGE', line, -place - most, -place - 1), {}
  local length = #tickets
  answer[3] = length
  -- What was pushed meanwhile has moved the last of these, which were seen.
  for i = length, last and 1 or length + 1, -1 do
    if tickets[i] == last then
      tickets = { unpack(tickets, 1, i - 1) }
      break
    end
  end
  local head
  for i, ticket in ipairs(tickets) do
    local leaves, verdict = judge(nil, ticket)
    if leaves then
      table.insert(goes, i - 1 - place - length)
    else
      head = head or ticket
      table.insert(answer[4], (not verdict or verdict == 'attempts' or verdict == 'damaged') and ticket or nil)
    end
  end
  if length == most then
    answer[1] = string.format('%d ', place + length - #goes) .. (head or last or '')
  end
  if #goes > 0 then
    for _, index in ipairs(goes) do
      redis.call('LSET', line, index, '-')
    end
    redis.call('LREM', line, -#goes, '-')
  end
elseif set then
  local found = scan_page('ZSCAN', set)
  for i = 1, #found, 2 do
    local ticket = found[i]
    local _, id = ticket_read(ticket)
    local leaves, verdict = judge(set, ticket)
    if leaves then
      gone('ZREM', set, ticket)
    elseif verdict == 'damaged' or verdict == 'attempts' then
      table.insert(answer[4], ticket)
    elseif set == outbox and tonumber(found[i + 1]) < now - 600000 and not field(handover, id) then
      tell('outbox', ticket)
    end
  end
elseif stage == 'lost' or stage == 'doubled' then
  -- Another one that repairs, and began later, does this.
  local ours = not repairs or field(meta, 'repairer') == ARGV[5]
  for i = 6, ours and #ARGV or 0 do
    local ticket = ARGV[i]
    local _, id = ticket_read(ticket)
    local stored = field(msg, id)
    local places, key = 0, nil
    for _, at in ipairs({ ready, high, low }) do
      local found = #read_list('LPOS', at, ticket, 'RANK', -1, 'COUNT', 2, 'MAXLEN', stage == 'lost' and 10000 or 0)
      places, key = places + found, found > 0 and at or key
    end
    if stage == 'doubled' and places > 1 then
      tell('doubled', ticket)
      if repairs then
        redis.call('LREM', key, -1, ticket)
      end
    elseif stage == 'lost' and stored and current_ticket(id, stored, field(attempts, id)) == ticket and places == 0
      and not place_of(ticket) then
      local e = envelope_read(stored)
      local successor = not e and is_readable(id, stored, outbox)
      tell((e or successor) and 'lost' or 'damaged', id)
      if repairs and successor then
        put_out(ticket, now)
      elseif repairs and e then
        join({ ticket })
      elseif repairs then
        make_dead(ticket)
      end
    end
  end
elseif stage == 'attempts' or stage == 'handover' then
  local key = stage == 'attempts' and attempts or handover
  local found = scan_page('HSCAN', key)
  for i = 1, #found, 2 do
    local id = found[i]
    local stored, text = field(msg, id), key == handover and field(attempts, id)
    if not stored or text and place_of((current_ticket(id, stored, text))) ~= outbox then
      bad('record', 'HDEL', key, id)
    elseif key == handover then
      tell('outbox', (string.gsub(found[i + 1], '^%d+ ', '')))
    end
  end
elseif stage == 'quarantine' then
  local length = redis.pcall('LLEN', quarantine)
  for i, entry in ipairs(read_list('LRANGE', quarantine, 0, 4)) do
    tell('quarantined', entry, i == 1 and length - math.min(length, 5) + 1 or 1)
  end
end
remove_gone()
return answer
