-- defines batch; needs batches; includes batch_record refuse_layout queue_name
-- The batch of a push. If it is not there, the script answers an error.
local batch = batch_read(redis.call('HGET', batches, ARGV[4]))
if not batch then
  -- include refuse_layout
  -- include queue_name
  return redis.error_reply(string.format(
    "INVALID the queue '%s' has no such batch: it has ended, or was never opened", queue_name()))
end
