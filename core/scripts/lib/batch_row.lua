-- defines batch_row; includes decimal
-- Adds what a batch's record says to a list, as words: id, state (0 open, 1 closed, 2 ended), how
-- many members it has, how many of them were acked, dead, cancelled, expired, purged, when it was
-- opened, when it closes or was closed, when it ended (0: not yet). Returns the list.
local function batch_row(words, id, b)
  words[#words + 1] = id
  for _, number in ipairs({
    b.state, b.pushed, b.acked, b.dead, b.cancelled, b.expired, b.purged, b.opened, b.closes,
    b.ended,
  }) do
    words[#words + 1] = decimal(number)
  end
  return words
end
