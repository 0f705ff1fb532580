-- reserve_noted: a reserve from a queue with messages whose ends are noted (lib/note_end.lua). It
-- does what reserve does, and also takes and acknowledges such messages, if lib/fast_noted.lua can
-- read their envelopes. If it meets anything else, it changes nothing and answers nil.
-- keys msg ready leased delayed wake meta reply started batches ends kept awaited
-- includes fast_begin fast_state fast_leases fast_events verify_leases fast_ends fast_terms
-- includes fast_noted noop_write lease_fast fast_ends_write fast_finish
-- args as reserve. If the end of an acknowledged message is noted, four empty texts and who
--   acknowledges stand behind the tickets, as in a call of reserve_full.
-- passes on to reserve_full
-- Returns what reserve returns.
-- include fast_begin
local sub = string.sub
-- include fast_state
-- include fast_leases
-- include fast_events

-- These tickets are of first deliveries without a priority and a group: an id that the core made,
-- "0.INCARNATION:ID", "0.!:ID" and "0.!INCARNATION:ID".
local ids = { nil }
for i = 1, n + surplus do
  local ticket = tickets[i] or due[i - n + direct]
  local colon = string.find(ticket, ':', 1, true)
  local zero, point, third, fourth = byte(ticket, 1, 4)
  local fits = #ticket == 22
  if colon and third == 33 then
    fits = colon == 4 or colon == 14 and fourth ~= 61
  elseif colon then
    fits = colon == 13 and third ~= 61
  end
  if not fits or colon and not (zero == 48 and point == 46) then
    return nil
  end
  if i <= n then
    ids[i] = colon and sub(ticket, colon + 1) or ticket
  end
end
local acks, acked_tickets, outcomes = tonumber(argv[7]), { nil }, ''
local by, end_text = argv[12 + acks] or '', ''
if acks == 1 then
  local found = call('ZSCORE', leased, argv[8])
  outcomes, acked_tickets[1] = found and '0' or '4', found and argv[8] or nil
elseif acks > 1 then
  -- include verify_leases
  outcomes, acked_tickets = verify_leases(8, 7 + acks)
  if not outcomes then
    return acked_tickets
  end
end
-- include fast_ends
-- include fast_terms
local starts = { nil }
for i = 1, n do
  local ticket, envelope = tickets[i], envelopes[i] or ''
  if ticket ~= ids[i] and byte(ticket, 3) == 33 then
    -- include fast_noted
    if (flags % 2 == 1 and sub(envelope, 5, 14) or '') ~= sub(ticket, 4, -2 - #ids[i]) then
      return nil
    end
    starts[#starts + 1], starts[#starts + 2] = ids[i], format('%d', now)
  else
    local version, flags = byte(envelope, 1, 2)
    if version ~= 0xD1 or #envelope < 4 or ticket == ids[i] and flags ~= 0
      or ticket ~= ids[i]
        and (flags ~= 1 or sub(envelope, 5, 14) ~= sub(ticket, 3, 12)) then
      return nil
    end
  end
  if n > 1 then
    deliver[offset + 2 * i - 1], deliver[offset + 2 * i] = ends, ticket
  end
  result[2 * i + 6], result[2 * i + 7] = ticket, envelope
end
local left = surplus
if (events_due or must_rewake) and ready_count == most then
  left = left + call('LLEN', ready) - ready_count
end

if n > 0 then
  -- include lease_fast
elseif end_ids[1] or #acked_tickets == 0 then
  -- A full server refuses additions as the first write.
  -- include noop_write
end
if starts[1] then
  redis.pcall('HSET', started, unpack(starts))
end
if end_ids[1] then
  -- include fast_ends_write
end
-- include fast_finish
