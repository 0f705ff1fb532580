-- push_to: puts messages for another queue into the outbox, which become members of a batch of this
-- queue. So a member that is counted reaches the other queue, also if the client dies.
-- keys msg outbox meta reply batches
-- includes now draft_read outbox_put bulk keep_reply batch_record batch_missing
-- args batch, the other queue's name, then for each the id of its entry, which the core made, and
--   id, envelope, due, extra as of push_full
-- Returns a digit for each: 0; and '+': a relay has work; or an error, INVALID: there is no such
--   batch.

local now, batch = now_ms(), batch_read(redis.call('HGET', batches, ARGV[4]))
if not batch then
  -- include batch_missing
end
local stored, number = {}, (#ARGV - 5) / 5
for i = 6, #ARGV, 5 do
  local draft = draft_read(ARGV, i + 1, now)
  -- Times that count from the push count from now, not from when the other queue gets the message.
  local extra = string.format('0 %d %d', draft.window, draft.replace)
  local entry = { ARGV[5], ARGV[i + 1], draft.envelope, string.format('@%d', draft.due), extra }
  outbox_put(ARGV[i], now + 1000)
  stored[#stored + 1], stored[#stored + 2] = ARGV[i], string.char(0xD2) .. cmsgpack.pack(entry)
end
bulk('HSET', msg, stored)
batch.pushed = batch.pushed + number
redis.call('HSET', batches, ARGV[4], batch_write(batch))
return keep_reply(string.rep(DUEQ_OK, number) .. '+')
