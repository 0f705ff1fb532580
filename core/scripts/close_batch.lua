-- close_batch: closes a batch. From then on only its members add members. If all have ended, its
-- callbacks are pushed.
-- keys msg ready high low delayed outbox wake meta attempts unique reply batches batch_ends
-- includes now batch_record batch_counts deferred_removals keep_reply refuse_layout noop_write
-- args id
-- Returns a digit: 0 it is closed, 3 there is no such batch; and '+' if a relay has work.

-- include refuse_layout
local now, is_open = now_ms(), redis.call('HEXISTS', batches, ARGV[4]) == 1
local ended = not is_open and batch_read(redis.call('HGET', batch_ends, ARGV[4]))
if not is_open then
  return keep_reply(ended and batch_is_kept(ended, now) and DUEQ_OK or DUEQ_NOT_FOUND)
end
-- include noop_write
batch_count(ARGV[4], 'close', 1)
local out = write_batches(now)
run_removals()
return keep_reply(DUEQ_OK .. (out and '+' or ''))
