-- push_to: puts messages for another queue into the outbox, which become members of a batch of this
-- queue. So a member that is counted reaches the other queue, also if the client dies.
-- keys msg outbox meta reply batches
-- includes now put_drafts_out keep_reply batch_to_fill batch_record
-- args batch, the other queue's name, then for each the id of its entry, which the core made, and
--   id, envelope, due, extra as of push_full
-- Returns a digit for each: 0; and '+': a relay has work; or an error, INVALID: there is no such
--   batch.

-- include batch_to_fill
local now = now_ms()
local number = (#ARGV - 5) / 5
-- include put_drafts_out
batch.pushed = batch.pushed + number
redis.call('HSET', batches, ARGV[4], batch_write(batch))
return keep_reply(string.rep(DUEQ_OK, number) .. '+')
