-- find_batch: reads the record of a batch. Changes nothing.
-- keys batches batch_ends meta
-- includes now batch_record batch_row refuse_newer
-- args alone: id
-- Returns { now ms, "", and the words of lib/batch_row.lua }, or nil: there is no such batch.

-- include refuse_newer
local now, id = now_ms(), ARGV[1]
local b = batch_read(redis.call('HGET', batches, id))
  or batch_read(redis.call('HGET', batch_ends, id))
if not b or b.state == 2 and not batch_is_kept(b, now) then
  return nil
end
return { string.format('%d', now), '', unpack(batch_row({}, id, b)) }
