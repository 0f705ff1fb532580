-- defines batch; needs batches; includes batch_record batch_missing refuse_layout
-- The batch of a push. If it is not there, the script answers an error.
local batch = batch_read(redis.call('HGET', batches, ARGV[4]))
if not batch then
  -- include refuse_layout
  -- include batch_missing
end
