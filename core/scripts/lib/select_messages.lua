-- defines select_messages; needs attempts leased msg ready
-- includes envelope note_failure attempts ticket deferred_removals precheck_full end_message
-- includes chain_failed note_end
-- Selects the messages that a reserve delivers: goes through the lanes in order, until it has
-- `most` of them, or has met 1,000 tickets. It does not deliver what is no ticket, has no message,
-- is over its time to live, or has exhausted its attempts.
-- ended: by lane, the leases that have ended (lib/ended_leases.lua). Their messages come before the
-- lane's own, each with one more delivery and one more crash. The lease of a message that is not
-- met stays its holder's.
-- pause(envelope, id, attempts, its lease had ended): how many ms a message with a crash must wait.
-- Such a message is delivered alone, so that it cannot end the process of other messages, nor they
-- its process. holds: the caller has other messages, so none with a crash is delivered.
-- large: the queue has had messages over 1 MiB. Then at most 8 MiB are delivered, or one message.
-- by_turns: the functions that give tickets of `ready` in the order of turns, of
-- reserve_groups_full.lua; nil: they come in the order of the list.
-- places: how many tickets `leased` may get. One that leaves it, as its lease has ended, makes room
-- for one more.
-- It changes nothing but messages that end (lib/end_message.lua), removals at the end of the call,
-- and `garbage`, to which it adds what is no ticket. Returns a table: deliver (tickets); envelopes,
-- records (attempts of those that came back) and leases (their own) by the same index;
-- crash_records (id, record, ... of messages whose leases had ended); ended (their tickets);
-- postponed (due time, ticket, ... of those that wait); suspect (the delivered ticket, if it
-- crashed twice); expired and corrupt (how many); met (by lane); waiting (how many ended leases
-- were not met); first (when the first of these ended, or the first that waits is due; huge: none);
-- relay_due (a relay has work); places (how many are left).
local function select_messages(lanes, most, now, garbage, ended, pause, large, holds, by_turns,
    places)
  local c = {
    deliver = {}, envelopes = {}, records = {}, leases = {}, crash_records = {}, ended = {},
    postponed = {}, expired = 0, corrupt = 0, met = {}, waiting = 0, first = math.huge,
  }
  local left, bytes, full = 1000, 0, false

  local function is_alone()
    return #c.deliver == 0 and not holds
  end

  -- ended: the ticket's lease has ended. Returns false if the message must stay where it is.
  local function judge(ticket, deliveries, id, suffix, envelope, record, ended)
    local e = envelope and envelope_read(envelope)
    if not deliveries then
      garbage[#garbage + 1] = ticket
    elseif envelope and (not e or e.suffix == suffix) then
      if ended then
        note_failure(now, 'crashed', ticket, '', '')
        local had = attempts_read(record)
        had.deliveries, had.suffix, had.crashes = deliveries + 1, suffix, had.crashes + 1
        deliveries, record = deliveries + 1, attempts_write(had)
        ticket = ticket_write(deliveries, id, suffix)
      end
      local had = attempts_read(record)
      had.deliveries, had.suffix = deliveries, suffix
      -- A ticket cannot count one delivery more.
      local spent = not e or deliveries == 999999999
        or (e.max_attempts > 0 and failure_count(had) >= e.max_attempts)
        or (e.max_crashes > 0 and had.crashes >= e.max_crashes)
      if by_turns and (spent or e.expires and e.expires <= now) then
        by_turns.ends(ticket)
      end
      if e and e.expires and e.expires <= now then
        note_end(id, envelope, 'expired', ticket, '', '')
        c.relay_due = chain_failed(id, e, ticket, 'its time to live is over', now, precheck_full)
          or c.relay_due
        defer_forget(id)
        c.expired = c.expired + 1
      elseif spent then
        had.error = e and had.error or 'damaged envelope'
        -- The failure belongs to the last delivery.
        note_failure(now, 'died', ticket_write(math.max(0, deliveries - 1), id, suffix), '',
          e and '' or had.error)
        c.corrupt = c.corrupt + (e and 0 or 1)
        precheck_full()
        c.relay_due = end_message(id, e, had, now, '') or c.relay_due
      elseif had.crashes > 0 and not is_alone() then
        full = true
        return false
      else
        local n, ms = #c.deliver + 1, had.crashes > 0 and pause(e, id, had, ended) or 0
        if ended then
          c.crash_records[#c.crash_records + 1], c.crash_records[#c.crash_records + 2] = id, record
        end
        if ms > 0 then
          c.postponed[#c.postponed + 1] = string.format('%d', now + ms)
          c.postponed[#c.postponed + 1] = ticket
          c.first = math.min(c.first, now + ms)
        else
          c.deliver[n], c.envelopes[n], c.leases[n] = ticket, envelope, e.lease or false
          c.records[n], c.ended[ticket] = record or false, ended
          if ended and by_turns then
            by_turns.enter(ticket)
          end
          bytes, full = bytes + #envelope, had.crashes > 0
          c.suspect = had.crashes > 1 and ticket or nil
        end
      end
    end
    return true
  end

  local function take_ended(leases)
    for _, lease in ipairs(leases) do
      if left > 0 and (not lease.id or most > 0 and is_alone()) then
        local id = lease.id
        defer_removal('ZREM', leased, lease.ticket)
        places = places + 1
        if by_turns then
          by_turns.leave({ lease.ticket })
        end
        judge(lease.ticket, lease.deliveries, id, lease.suffix, id and redis.call('HGET', msg, id),
          id and redis.call('HGET', attempts, id), true)
        left = left - 1
      else
        c.waiting, c.first = c.waiting + 1, math.min(c.first, lease.at)
        full = true
      end
    end
  end

  for l, lane in ipairs(lanes) do
    c.met[l] = 0
    take_ended(ended[lane] or {})
    local most = math.min(most, places)
    while #c.deliver < most and left > 0 and not full do
      local size = large and 1 or math.min(left, most - #c.deliver + (c.met[l] > 0 and 200 or 0))
      local in_turn = by_turns and lane == ready
      local tickets = in_turn and by_turns.take(math.min(size, most - #c.deliver + 20))
        or not in_turn and redis.call('LRANGE', lane, c.met[l], c.met[l] + size - 1)
      if #tickets == 0 then
        break
      end
      local deliveries, ids, suffixes = {}, {}, {}
      for i, ticket in ipairs(tickets) do
        deliveries[i], ids[i], suffixes[i] = ticket_read(ticket)
        ids[i] = ids[i] or ''
      end
      if large and #c.deliver > 0 and bytes + redis.call('HSTRLEN', msg, ids[1]) > 8388608 then
        full = true
        if in_turn then
          by_turns.judged(1, false, false)
        end
        break
      end
      local envelopes = redis.call('HMGET', msg, unpack(ids))
      local records = redis.call('HMGET', attempts, unpack(ids))
      for i, ticket in ipairs(tickets) do
        local count = #c.deliver
        local leaves = count < most and not full
          and judge(ticket, deliveries[i], ids[i], suffixes[i], envelopes[i],
            deliveries[i] ~= 0 and records[i])
        if leaves then
          c.met[l], left = c.met[l] + 1, left - 1
        end
        if in_turn then
          by_turns.judged(i, leaves, #c.deliver > count)
        end
      end
    end
  end
  c.places = places - #c.deliver
  return c
end
