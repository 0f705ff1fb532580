-- ack_outbox: finishes a leased message, and puts its successors for another queue into the outbox.
-- keys msg leased outbox wake meta attempts reply turns working parked timers
-- keys ends kept started awaited guests
-- includes now leased_message keep_reply draft_read outbox_put bulk deferred_removals count
-- includes held noop_write give_places end_delivery note_end
-- args ticket, the other queue's name, then for each successor the id of its entry, which the core
--   made, and id, envelope, due, extra as of push_full
-- Returns digits: for the message 0 finished, 4 the lease is lost; for each successor 0, or 4 as
--   well; and '+' if a relay has work.

-- include held
local now, number, stored = now_ms(), (#ARGV - 5) / 5, {}
local id, envelope = leased_message(ARGV[4])
if not id then
  return keep_reply(string.rep(DUEQ_LEASE_LOST, 1 + number))
end
local taken_out = { ARGV[4] }
-- include give_places
-- include noop_write
for i = 6, #ARGV, 5 do
  local draft = draft_read(ARGV, i + 1, now)
  -- Times that count from the push count from now, not from when the other queue gets the
  -- successor.
  local extra = string.format('0 %d %d', draft.window, draft.replace)
  local entry = { ARGV[5], ARGV[i + 1], draft.envelope, string.format('@%d', draft.due), extra }
  outbox_put(ARGV[i], now + 1000)
  stored[#stored + 1], stored[#stored + 2] = ARGV[i], string.char(0xD2) .. cmsgpack.pack(entry)
end
bulk('HSET', msg, stored)
note_end(now, id, envelope, 'acked', ARGV[4], '', '')
write_ends()
defer_forget(id)
defer_removal('ZREM', leased, ARGV[4])
-- include end_delivery
count('acked', 1)
return keep_reply(string.rep(DUEQ_OK, 1 + number) .. '+')
