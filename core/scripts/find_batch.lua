-- find_batch: reads the record of a batch, and which callbacks it has. Changes nothing.
-- keys batches batch_ends meta
-- includes now batch_record batch_row refuse_newer
-- args alone: id
-- Returns { now ms, "", the words of lib/batch_row.lua, and of then, catch and finally the id of
--   the message ('': there is none) and its queue ('': this one) }, or nil: there is no such batch.

-- include refuse_newer
local now, id = now_ms(), ARGV[1]
local b = batch_read(redis.call('HGET', batches, id))
  or batch_read(redis.call('HGET', batch_ends, id))
if not b or b.state == 2 and not batch_is_kept(b, now) then
  return nil
end
local answer = batch_row({ string.format('%d', now), '' }, id, b)
for _, name in ipairs({ 'then', 'catch', 'finally' }) do
  local text = b.state < 2 and redis.call('HGET', batches, id .. '\t' .. name)
  local fine, words = pcall(cmsgpack.unpack, text or '')
  fine = text and fine and type(words) == 'table' and type(words[1]) == 'string'
    and type(words[3]) == 'string'
  answer[#answer + 1] = fine and words[3] or ''
  answer[#answer + 1] = fine and words[1] or ''
end
return answer
