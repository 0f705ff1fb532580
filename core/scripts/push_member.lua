-- push_member: as push, of messages that become members of a batch of this queue. Their ends may be
-- kept, too.
-- keys msg ready wake meta reply batches
-- includes refuse_layout batch_missing put_noted wake keep_reply_inline
-- args batch, then id, envelope of each
-- Returns a digit for each: 0 stored; or an error, INVALID: there is no such batch.
local argv, from = ARGV, 5
local n, text = (#argv - 4) / 2, redis.call('HGET', batches, argv[4])
-- The record's form is that of lib/batch_record.lua.
if not text or #text < 50 or string.byte(text) ~= 1 then
  -- include refuse_layout
  -- include batch_missing
end
-- include put_noted
redis.call('HSET', batches, argv[4], string.sub(text, 1, 2)
  .. struct.pack('>I4', struct.unpack('>I4', text, 3) + n) .. string.sub(text, 7))
if length == n then
  -- include wake
  wake_one(n > 1)
end
redis.pcall('HINCRBY', meta, 'pushed', number)
local answer = n == 1 and '0' or string.rep(DUEQ_OK, n)
-- include keep_reply_inline
return answer
