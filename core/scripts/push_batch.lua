-- push_batch: stores messages that become members of a batch of this queue, and replace none.
-- keys msg ready high low delayed wake meta reply rates unique groups batches
-- includes now store_below_backlog keep_reply keep_history return_problem batch_record
-- includes batch_to_fill
-- args batch, then id, envelope, due, extra of each (lib/draft_read.lua)
-- Returns a digit for each: 0 stored, 2 a message has this id, or the id is still unique, 9 its
--   group is at its backlog; or an error, INVALID: there is no such batch.

-- include batch_to_fill
local now = now_ms()
-- include keep_history
local outcome, problem = store_below_backlog(ARGV, 5, now, {})
-- include return_problem
local _, stored = string.gsub(outcome, DUEQ_OK, '')
batch.pushed = batch.pushed + stored
redis.call('HSET', batches, ARGV[4], batch_write(batch))
return keep_reply(outcome)
