-- defines batch; needs batches meta; includes batch_record refuse_layout
-- The batch of a push. If it is not there, the script answers an error.
local batch = batch_read(redis.call('HGET', batches, ARGV[4]))
if not batch then
  -- include refuse_layout
  return redis.error_reply(string.format(
    "INVALID the queue '%s' has no such batch: it has ended, or was never opened",
    string.match(meta, '^dueq:{(.*)}:meta$')))
end
