-- ack_push: finishes a leased message, and pushes its successors to its own queue.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- keys groups turns working parked timers ends kept started awaited guests
-- includes now leased_message keep_reply backlog store_below_backlog store_drafts count held
-- includes replace_message deferred_removals keep_history noop_write leaves end_acked note_end
-- args ticket, then id, envelope, due, extra of each successor (lib/draft_read.lua)
-- Returns digits: for the message 0 finished, 4 the lease is lost; for each successor as push_full,
--   or 4 as well. All are 9: the group of a successor is at its backlog, and nothing has changed.

-- include held
-- include replace_message
local now = now_ms()
local id, envelope = leased_message(ARGV[4])
if not id then
  return keep_reply(string.rep(DUEQ_LEASE_LOST, 1 + (#ARGV - 4) / 4))
end
for i = 6, #ARGV, 4 do
  if string.byte(ARGV[i], 2) >= 128 then
    -- include backlog
    -- include store_below_backlog
    if backlog_refused(ARGV, 5, now, id) then
      return keep_reply(string.rep(BACKLOG, 1 + (#ARGV - 4) / 4))
    end
    break
  end
end
leaves({ ARGV[4] })
-- include keep_history
-- include noop_write
local outcome = store_drafts(ARGV, 5, now, { replace = replace_message, leaving = id })
note_end(id, envelope, 'acked', ARGV[4], '', '')
-- include end_acked
count('acked', 1)
return keep_reply(DUEQ_OK .. outcome .. (out and '+' or ''))
