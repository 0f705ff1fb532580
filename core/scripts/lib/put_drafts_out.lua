-- needs msg now; includes outbox_draft outbox_put bulk
-- Puts the messages of the arguments from 6 on, five words each, into the outbox, for the queue
-- that argument 5 names. The words: the id of the entry, which the core made, and id, envelope,
-- due, extra as of push_full.
local stored = {}
for i = 6, #ARGV, 5 do
  outbox_put(ARGV[i], now + 1000)
  stored[#stored + 1], stored[#stored + 2] = ARGV[i], outbox_draft(ARGV[5], ARGV, i + 1, now)
end
bulk('HSET', msg, stored)
