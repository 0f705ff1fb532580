-- check: looks at a window of one key, or judges tickets by all keys at one moment. Reports what is
-- wrong, and may repair it. A key of another type counts as empty.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine
-- keys rates received failures groups lines turns limits working parked timers
-- keys rated holds ends kept started awaited begun guests batches batch_ends served_even served_odd
-- includes check_keys check_verdict check_findings check_groups check_ends check_batches
-- includes lane_window message envelope ticket
-- includes decimal
-- includes deferred_removals outbox_put enqueue lane refuse_wire refuse_partitioned noop_write
-- includes member_end wake
-- args alone: '1' to repair; stage (a key, or types, notes, lost, doubled); cursor ('': the first;
--   of lanes and of delayed, leased and dead "DISTANCE TICKET": how many tickets of the tail to
--   leave out, and the last ticket seen); how many; a mark of who repairs; then what to judge:
--   tickets, for attempts ids, for doubled a ticket and twice a lane and a distance
-- Returns { next cursor ('': that was the last; if it judged: how many went), bytes read, entries,
--   tickets (for attempts ids; if it judged, those that are in their places), which of the tickets
--   to judge (for msg: those of corrupt messages), then for each kind of finding its name, how
--   many, up to five examples }.

-- If all keys have their types, a newer dueq wrote this wire version. Otherwise another program
-- did, and the version is one more finding.
local wire = redis.pcall('HGET', meta, 'wire')
if wire ~= '1' and not has_foreign() then
  wire = nil
end
-- include refuse_wire
-- include refuse_partitioned
if repairs and stage ~= 'types' then
  -- include noop_write
end
local lane = ({ high = high, ready = ready, low = low })[stage]
local set = ({ leased = leased, dead = dead, delayed = delayed })[stage]
local judges = #ARGV > 5
if stage == 'types' then
  check_types()
elseif stage == 'notes' then
  check_meta()
elseif stage == 'msg' then
  local found, ids = scan_page('HSCAN', msg), {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
  end
  local texts, tickets, corrupt, bytes = prefetch('HMGET', attempts, ids), answer[4], answer[5], 0
  for i = 1, #ids do
    local id, stored = ids[i], found[2 * i]
    local text = texts[id]
    local ticket, is_sound = id, not text and is_plain(id, stored)
    bytes = bytes + #stored
    if not is_sound then
      ticket = current_ticket(id, stored, text)
      is_sound = envelope_read(stored)
    end
    if ticket ~= id and not ticket_read(ticket) then
      report_removal('garbage', 'HDEL', msg, id)
      if repairs then
        -- No ticket can name this id. The message is kept where no reserve looks.
        redis.call('HSET', quarantine .. ':messages', id, stored)
      end
    else
      tickets[#tickets + 1] = ticket
      if not is_sound then
        corrupt[#corrupt + 1] = #tickets
      end
    end
  end
  answer[2] = bytes
elseif (lane or set) and not judges then
  local place, last = string.match(cursor, '^(%d+) (.*)$')
  local tickets = read_window(lane or set, tonumber(place), most, set)
  answer[3] = #tickets
  answer[1] = #tickets == most and '1' or ''
  -- Later pushes have moved tickets into this window that the window before had.
  for i = #tickets, last ~= '' and 1 or #tickets + 1, -1 do
    if tickets[i] == last then
      tickets = { unpack(tickets, 1, i - 1) }
      break
    end
  end
  answer[4], answer[5] = tickets, in_other_sets(tickets, set)
elseif lane then
  local place = tonumber(string.match(cursor, '^%d+'))
  local asked, goes = prefetch_tickets(6), {}
  -- Later pushes have moved the tickets away from the tail.
  local tickets, first = read_window(lane, place, 2 * most)
  for i, ticket in ipairs(tickets) do
    local leaves, verdict
    if asked[ticket] then
      leaves, verdict = judge(nil, ticket)
      if leaves then
        goes[#goes + 1] = first + i
      elseif not verdict or verdict == 'attempts' or verdict == 'corrupt' then
        table.insert(answer[4], ticket)
      end
    end
  end
  answer[1] = decimal(#goes)
  remove_from_lane(lane, goes)
elseif set or stage == 'outbox' then
  local found = judges and {} or scan_page('ZSCAN', outbox)
  local asked, went = prefetch_tickets(6, found), 0
  for ticket in pairs(asked) do
    local _, id = ticket_read(ticket)
    local key = set or outbox
    local score = tonumber(in_set(key, ticket) or '')
    local leaves, verdict
    if score then
      leaves, verdict = judge(key, ticket)
    end
    if leaves then
      defer_removal('ZREM', key, ticket)
      went = went + 1
    elseif score and (not verdict or verdict == 'corrupt' or verdict == 'attempts') then
      table.insert(answer[4], ticket)
      if not verdict and key == outbox and score < now - 600000 and not field(handover, id) then
        report('outbox', ticket)
      end
    end
  end
  answer[1] = judges and decimal(went) or answer[1]
elseif stage == 'lines' then
  check_lines()
elseif stage == 'lost' then
  -- If another check began to repair later, that one does this.
  local ours, seen = not repairs or field(meta, 'repairer') == ARGV[5], {}
  for _, key in ipairs({ ready, high, low }) do
    for _, ticket in ipairs(read_list('LRANGE', key, -3000, -1)) do
      seen[ticket] = true
    end
  end
  local lost = {}
  for ticket in pairs(ours and prefetch_tickets(6) or {}) do
    local _, id = ticket_read(ticket)
    local stored = field(msg, id)
    answer[2] = answer[2] + #(stored or '')
    if stored and current_ticket(id, stored, field(attempts, id)) == ticket and not seen[ticket]
      and not place_of(ticket) and not in_line(ticket) then
      local e = envelope_read(stored)
      local successor = not e and is_readable(id, stored, outbox)
      report((e or successor) and 'lost' or 'corrupt', id)
      if repairs and successor then
        outbox_put(ticket, now)
      elseif repairs and e then
        lost[#lost + 1] = ticket
      elseif repairs then
        make_dead(ticket)
      end
    end
  end
  enqueue(lost)
elseif stage == 'doubled' then
  local ours = not repairs or field(meta, 'repairer') == ARGV[5]
  local ticket, own, places = ARGV[6], lane_of(ARGV[6]), {}
  for i = 7, ours and 9 or 0, 2 do
    local key = ({ high = high, ready = ready, low = low })[ARGV[i]]
    -- Later pushes have moved the ticket away from the tail, repairs of its window towards the
    -- tail.
    local tickets, first = read_window(key, math.max(ARGV[i + 1] - 4000, 0), 8000)
    for n, other in ipairs(tickets) do
      if other == ticket then
        places[ARGV[i] .. decimal(first + n)] = { key = key, at = first + n, own = ARGV[i] == own }
      end
    end
  end
  local count, goes = 0, nil
  for _, place in pairs(places) do
    count = count + 1
    if not goes or goes.own and not place.own or goes.own == place.own and place.at > goes.at then
      goes = place
    end
  end
  if count > 1 then
    report('doubled', ticket)
    if repairs then
      remove_from_lane(goes.key, { goes.at })
    end
  end
elseif stage == 'attempts' and judges then
  local ids = { unpack(ARGV, 6) }
  prefetch('HMGET', msg, ids)
  for _, id in ipairs(ids) do
    if not field(msg, id) and field(attempts, id) then
      report_removal('record', 'HDEL', attempts, id)
    end
  end
elseif stage == 'attempts' then
  local found = scan_page('HSCAN', attempts)
  for i = 1, #found, 2 do
    table.insert(answer[4], found[i])
  end
elseif stage == 'handover' then
  local found = scan_page('HSCAN', handover)
  for i = 1, #found, 2 do
    local id = found[i]
    local stored, text = field(msg, id), field(attempts, id)
    if not stored or text and place_of((current_ticket(id, stored, text))) ~= outbox then
      report_removal('record', 'HDEL', handover, id)
    else
      report('outbox', (string.gsub(found[i + 1], '^%d+ ', '')))
    end
  end
elseif stage == 'ends' then
  check_ends()
elseif stage == 'kept' then
  check_kept()
elseif stage == 'started' then
  check_started()
elseif stage == 'batches' then
  check_batches()
elseif stage == 'quarantine' then
  local length = redis.pcall('LLEN', quarantine)
  for i, entry in ipairs(read_list('LRANGE', quarantine, 0, 4)) do
    report('quarantined', entry, i == 1 and length - math.min(length, 5) + 1 or 1)
  end
end
if write_member_ends(now) then
  -- The client of this call relays nothing: a consumer that waits does.
  wake_one()
end
run_removals()
return answer
