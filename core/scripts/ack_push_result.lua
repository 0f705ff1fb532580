-- ack_push_result: finishes a leased message with a result, and pushes its successors: to its own
-- queue as ack_push, or to another one as ack_outbox.
-- keys msg ready high low delayed wake meta reply rates unique leased dead outbox attempts
-- keys groups turns working parked timers ends kept started awaited guests
-- includes now leased_message keep_reply backlog store_below_backlog store_drafts count held
-- includes replace_message deferred_removals keep_history noop_write leaves end_acked note_end
-- includes put_drafts_out
-- args ticket, the other queue's name ('': this one), then for each successor the id of its entry
--   in the outbox, which the core made, and id, envelope, due, extra as of push_full; then who ends
--   the message, "HOST PID", and '=' and the result
-- Returns digits: for the message 0 finished, 4 the lease is lost; for each successor as push_full,
--   or 4 as well; and '+' if a relay has work. All are 9: the group of a successor is at its
--   backlog, and nothing has changed.

-- include held
-- include replace_message
local result, who = table.remove(ARGV), table.remove(ARGV)
local now, is_own, words = now_ms(), ARGV[5] == '', { nil }
local id, envelope = leased_message(ARGV[4])
local outcome = string.rep(id and DUEQ_OK or DUEQ_LEASE_LOST, (#ARGV - 5) / 5)
if not id then
  return keep_reply(DUEQ_LEASE_LOST .. outcome)
end
for i = 7, #ARGV, 5 do
  for k = i, i + 3 do
    words[#words + 1] = ARGV[k]
  end
end
-- include backlog
-- include store_below_backlog
if is_own and backlog_refused(words, 1, now, id) then
  return keep_reply(string.rep(BACKLOG, 1 + #outcome))
end
leaves({ ARGV[4] })
-- include keep_history
-- include noop_write
if is_own then
  outcome = store_drafts(words, 1, now, { replace = replace_message, leaving = id })
else
  -- include put_drafts_out
end
note_end(id, envelope, 'acked', ARGV[4], who, result)
-- include end_acked
count('acked', 1)
return keep_reply(DUEQ_OK .. outcome .. ((out or not is_own) and '+' or ''))
