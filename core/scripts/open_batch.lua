-- open_batch: opens a batch, which counts the ends of its members (lib/batch_counts.lua).
-- keys msg outbox wake meta reply batches batch_ends
-- includes now batch_record batch_note bulk outbox_put note_event keep_reply refuse_layout
-- includes queue_name
-- args id, after how many ms the batch closes at the latest, for how many ms its record stays when
--   it has ended, the id of the entry of the outbox that closes it, which the core made; then for
--   each callback: then, catch or finally, the name of its queue ('': this one), the id of its
--   entry of the outbox, and id, envelope, due, extra as of push_full
-- Returns a digit: 0 it is open, 2 there is a batch of this id, or its record.

-- include refuse_layout
local id, now = ARGV[4], now_ms()
local old = batch_read(redis.call('HGET', batch_ends, id))
if redis.call('HEXISTS', batches, id) == 1 or old and batch_is_kept(old, now) then
  return keep_reply(DUEQ_DUPLICATE)
end
local closes = now + ARGV[5]
local words = { id, batch_write({
  state = 0, pushed = 0, acked = 0, dead = 0, cancelled = 0, expired = 0, purged = 0,
  opened = now, closes = closes, ended = 0, keep = tonumber(ARGV[6]), timer = ARGV[7],
}) }
for i = 8, #ARGV, 7 do
  words[#words + 1] = id .. '\t' .. ARGV[i]
  words[#words + 1] = cmsgpack.pack({ unpack(ARGV, i + 1, i + 6) })
end
-- This comes before outbox_put(), which notes the event and wakes nobody.
note_event(closes, now)
outbox_put(ARGV[7], closes)
bulk('HSET', batches, words)
redis.call('HSET', msg, ARGV[7], batch_note(queue_name(), id, 'timeout 1', now))
return keep_reply(DUEQ_OK)
