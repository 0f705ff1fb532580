-- ack_outbox: finishes a leased message, and puts its successors for another queue into the outbox.
-- keys msg leased outbox wake meta attempts reply turns working parked timers
-- keys ends kept started awaited guests
-- includes now leased_message keep_reply put_drafts_out deferred_removals count
-- includes held noop_write give_places end_delivery note_end
-- args ticket, the other queue's name, then for each successor the id of its entry, which the core
--   made, and id, envelope, due, extra as of push_full
-- Returns digits: for the message 0 finished, 4 the lease is lost; for each successor 0, or 4 as
--   well; and '+' if a relay has work.

-- include held
local now, number = now_ms(), (#ARGV - 5) / 5
local id, envelope = leased_message(ARGV[4])
if not id then
  return keep_reply(string.rep(DUEQ_LEASE_LOST, 1 + number))
end
local taken_out = { ARGV[4] }
-- include give_places
-- include noop_write
-- include put_drafts_out
note_end(id, envelope, 'acked', ARGV[4], '', '')
write_ends(now)
defer_forget(id)
defer_removal('ZREM', leased, ARGV[4])
-- include end_delivery
count('acked', 1)
return keep_reply(string.rep(DUEQ_OK, 1 + number) .. '+')
