-- defines outbox_draft; includes draft_read
-- What `msg` has of a message for another queue that waits in the outbox (lib/outbox_entry.lua).
-- words: id, envelope, due, extra of the message from index i on (lib/draft_read.lua). Times that
-- count from the push count from now, not from when the other queue gets the message.
local function outbox_draft(queue, words, i, now)
  local draft = draft_read(words, i, now)
  return string.char(0xD2) .. cmsgpack.pack({
    queue, words[i], draft.envelope, string.format('@%d', draft.due),
    string.format('0 %d %d', draft.window, draft.replace),
  })
end
