-- needs msg now; includes draft_read outbox_put bulk
-- Puts the messages of the arguments from 6 on, five words each, into the outbox, for the queue
-- that argument 5 names. The words: the id of the entry, which the core made, and id, envelope,
-- due, extra as of push_full.
local stored = {}
for i = 6, #ARGV, 5 do
  local draft = draft_read(ARGV, i + 1, now)
  -- Times that count from the push count from now, not from when the other queue gets the message.
  local extra = string.format('0 %d %d', draft.window, draft.replace)
  local entry = { ARGV[5], ARGV[i + 1], draft.envelope, string.format('@%d', draft.due), extra }
  outbox_put(ARGV[i], now + 1000)
  stored[#stored + 1], stored[#stored + 2] = ARGV[i], string.char(0xD2) .. cmsgpack.pack(entry)
end
bulk('HSET', msg, stored)
