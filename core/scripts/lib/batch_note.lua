-- defines batch_note
-- A note in the outbox that tells a batch what became of members, as it is stored in `msg`. queue:
-- the batch's home. text: words, each with a number behind it: acked, dead, cancelled, expired or
-- purged and how many; or timeout and 1.
local function batch_note(queue, id, text, now)
  return string.char(0xD2)
    .. cmsgpack.pack({ queue, id, string.char(0xD4) .. text, string.format('@%d', now), '' })
end
