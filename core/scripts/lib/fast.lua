-- needs ready lateness keep_history
-- includes fast_begin fast_state fast_leases fast_events fast_terms verify_leases_fast noop_write
-- includes lease_fast fast_finish
-- The body of reserve and reserve_timed. It reads all that it needs before it writes, so that it
-- can still pass the call on. lateness: a function that says how late the messages are; nil: nobody
-- asks. keep_history: a function that does so in the first call of a minute; nil: this is none.
-- include fast_begin
-- include fast_state
-- include fast_leases
-- include fast_events

-- A plain ticket is an id that the core made, or "0.INCARNATION:ID". The client checks the id
-- itself. Here and below a table begins with room for one message: Lua makes room again for each
-- place that is added to a table.
local ids = { nil }
for i = 1, n + surplus do
  local ticket = tickets[i] or due[i - n + direct]
  local size = #ticket
  if size < 14 then
    return nil
  end
  local own = byte(ticket, 2) == 46
  if own and not (byte(ticket, 1) == 48 and byte(ticket, 13) == 58) or not own and size ~= 22 then
    return nil
  end
  if i <= n then
    ids[i] = own and string.sub(ticket, 14) or ticket
  end
end
-- include fast_terms
for i = 1, n do
  local ticket, envelope = tickets[i], envelopes[i] or ''
  local version, flags = byte(envelope, 1, 2)
  if version ~= 0xD1 or #envelope < 4 or ticket == ids[i] and flags ~= 0
    or ticket ~= ids[i]
      and (flags ~= 1 or string.sub(envelope, 5, 14) ~= string.sub(ticket, 3, 12)) then
    return nil
  end
  if n > 1 then
    deliver[offset + 2 * i - 1], deliver[offset + 2 * i] = ends, ticket
  end
  result[2 * i + 6], result[2 * i + 7] = ticket, envelope
end
if lateness and n > 0 then
  result[2 * n + 8] = lateness(tickets, now, head)
end
local left = surplus
if (events_due or must_rewake) and ready_count == most then
  left = left + call('LLEN', ready) - ready_count
end

local acked_tickets, outcomes = argv[8] and { argv[8] } or {}, ''
if #argv > 8 then
  -- include verify_leases_fast
  outcomes, acked_tickets = verify_leases_fast()
end
if keep_history then
  keep_history(now)
end
if n > 0 then
  -- include lease_fast
elseif #acked_tickets == 0 then
  -- Even such a call must write: a server that is no longer primary refuses it.
  -- include noop_write
end
-- include fast_finish
