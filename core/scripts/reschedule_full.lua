-- reschedule_full: gives a delayed message another due time.
-- keys msg ready high low delayed wake meta attempts reply
-- includes now due_time find_in_set enqueue bulk put_tickets note_event keep_reply refuse_layout
-- args id, due ('0' now, '+ms' from now, '@ms' since 1970)
-- Returns a digit: 0 done, 3 there is no such delayed message.

-- include refuse_layout
local now = now_ms()
local at = due_time(ARGV[5], now)
local outcome, tickets = find_in_set({ ARGV[4] }, delayed)
if at <= now then
  enqueue(tickets)
  bulk('ZREM', delayed, tickets)
elseif #tickets > 0 then
  put_tickets(delayed, at, tickets)
  note_event(at, now)
end
return keep_reply(outcome)
