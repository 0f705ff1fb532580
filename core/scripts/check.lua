-- check: looks at a window of one key and says what is wrong there; it may mend that. It judges a message by all keys
-- at one moment. A key of another type counts as empty.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine rates received
-- args alone: '1' to mend, stage (one of the keys; or types, notes, lost, doubled, names), cursor ('': the first), how
--      many, mark of who mends; then of lost and doubled tickets
-- Returns { next cursor ('': that was the last), bytes that were read, entries, tickets, then for each kind of finding its
--           name, how many and up to five examples }. Tickets: of msg, those that no set holds; of a line, those that hold a
--           message; of a set, of these those that `attempts` does not say.

local mends, stage, cursor, most = ARGV[1] == '1', ARGV[2], ARGV[3], tonumber(ARGV[4])
local now, answer, kinds = now_ms(), { '', 0, 0, {} }, {}


if mends and stage ~= 'types' then
  -- include permit
end
local line = ({ high = high, ready = ready, low = low })[stage]
local set = ({ leased = leased, outbox = outbox, dead = dead, delayed = delayed })[stage]
if stage == 'types' then
  check_types()
elseif stage == 'notes' then
  check_notes()
elseif stage == 'msg' then
  local found, ids, tickets = scan('HSCAN', msg), {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
    answer[2] = answer[2] + #found[i + 1]
  end
  local texts = #ids > 0 and read('HMGET', attempts, unpack(ids)) or {}
  for i, id in ipairs(ids) do
    tickets[i] = current_ticket(id, found[2 * i], texts[i])
  end
  local held = holders(tickets)
  for i, ticket in ipairs(tickets) do
    if not ticket_read(ticket) then
      find('garbage', ids[i])
      if mends then
        -- Nothing can hold it: it is kept where nobody looks for messages.
        redis.call('HSET', quarantine .. ':messages', ids[i], found[2 * i])
        redis.call('HDEL', msg, ids[i])
      end
    elseif not held[i] then
      table.insert(answer[4], ticket)
    end
  end
elseif line then
  -- From the tail on, by the distance from there: what stays in the line is not passed by, whatever comes and goes.
  local place, last = string.match(cursor, '^(%d+) (.*)$')
  place = tonumber(place or 0)
  local tickets, goes = read('LRANGE', line, -place - most, -place - 1), {}
  local length = #tickets
  answer[3] = length
  -- What was pushed meanwhile has moved the last of these, which were seen.
  for i = length, last and 1 or length + 1, -1 do
    if tickets[i] == last then
      tickets = { unpack(tickets, 1, i - 1) }
      break
    end
  end
  local verdicts, head = nil, nil
  verdicts, answer[2] = verdicts_of(tickets)
  for i, verdict in ipairs(verdicts) do
    if settle(nil, tickets[i], verdict) then
      table.insert(goes, i - 1 - place - length)
    else
      head = head or tickets[i]
      table.insert(answer[4], (not verdict or verdict == 'attempts' or verdict == 'damaged') and tickets[i] or nil)
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
  local found, tickets, goes = scan('ZSCAN', set), {}, {}
  for i = 1, #found, 2 do
    tickets[#tickets + 1] = found[i]
  end
  local verdicts
  verdicts, answer[2] = verdicts_of(tickets, set)
  for i, ticket in ipairs(tickets) do
    local _, id = ticket_read(ticket)
    if settle(set, ticket, verdicts[i]) then
      table.insert(goes, ticket)
    elseif verdicts[i] == 'damaged' or verdicts[i] == 'attempts' then
      table.insert(answer[4], ticket)
    elseif set == outbox and tonumber(found[2 * i]) < now - 600000 and not read('HMGET', handover, id)[1] then
      find('outbox', ticket)
    end
  end
  drop('ZREM', set, goes)
elseif stage == 'lost' or stage == 'doubled' then
  -- Another one that mends, and began later, does this.
  local ours = not mends or read('HMGET', meta, 'mender')[1] == ARGV[5]
  for i = 6, ours and #ARGV or 0 do
    local ticket = ARGV[i]
    local _, id = ticket_read(ticket)
    local stored = read('HMGET', msg, id)[1]
    local places, key = 0, nil
    for _, at in ipairs({ ready, high, low }) do
      local found = #read('LPOS', at, ticket, 'RANK', -1, 'COUNT', 2, 'MAXLEN', stage == 'lost' and 10000 or 0)
      places, key = places + found, found > 0 and at or key
    end
    local is_current = stored and current_ticket(id, stored, read('HMGET', attempts, id)[1]) == ticket
    if stage == 'doubled' and places > 1 then
      find('doubled', ticket)
      if mends then
        redis.call('LREM', key, -1, ticket)
      end
    elseif stage == 'lost' and is_current and places == 0 and not holders({ ticket })[1] then
      local e = envelope_read(stored)
      local successor = not e and is_whole(id, stored, outbox)
      local sound = e or successor
      find(sound and 'lost' or 'damaged', id)
      if mends and successor then
        put_out(ticket, now - 1000)
      elseif mends and sound then
        line_up({ ticket })
        wake_one()
      elseif mends then
        bury(ticket)
      end
    end
  end
elseif stage == 'attempts' or stage == 'handover' then
  local key, goes = stage == 'attempts' and attempts or handover, {}
  local found = scan('HSCAN', key)
  for i = 1, #found, 2 do
    local stored = read('HMGET', msg, found[i])[1]
    local text = stored and key == handover and read('HMGET', attempts, found[i])[1]
    if not stored or text and holders({ current_ticket(found[i], stored, text) })[1] ~= outbox then
      find('record', found[i])
      goes[#goes + 1] = found[i]
    elseif key == handover then
      find('outbox', (string.gsub(found[i + 1], '^%d+ ', '')))
    end
  end
  drop('HDEL', key, goes)
elseif stage == 'unique' or stage == 'received' then
  local key, goes = stage == 'unique' and unique or received, {}
  local found = scan('ZSCAN', key)
  for i = 1, #found, 2 do
    local at = tonumber(found[i + 1])
    if key == unique and at > 8204889600000 or key == received and at < now - 604800000 then
      find(stage, found[i])
      goes[#goes + 1] = found[i]
    end
  end
  drop('ZREM', key, goes)
elseif stage == 'quarantine' then
  local length = redis.pcall('LLEN', quarantine)
  for i, entry in ipairs(read('LRANGE', quarantine, 0, 4)) do
    find('quarantined', entry, i == 1 and length - math.min(length, 5) + 1 or 1)
  end
elseif stage == 'names' then
  local before, known = string.sub(msg, 1, -4), {}
  for _, key in ipairs(KEYS) do
    known[key] = true
  end
  local pattern = string.gsub(before, '[%*%?%[%]\\]', '\\%0') .. '*'
  local page = redis.call('SCAN', cursor == '' and '0' or cursor, 'MATCH', pattern, 'COUNT', 1000)
  answer[1] = page[1] ~= '0' and page[1] or ''
  for _, key in ipairs(page[2]) do
    local kind = string.match(string.sub(key, #before + 1), '^([a-z_]+):')
    if not known[key] and not ({ reply = 1, lock = 1, lock_wake = 1, quarantine = 1 })[kind or ''] then
      find('unknown', key)
    end
  end
end
return answer
