-- defines replace_message; needs attempts dead delayed leased outbox
-- includes message envelope deferred_removals
-- Puts a draft in the place of the living message of its id. One that is READY or DELAYED stays
-- where and when it is
-- where only its body is replaced (draft.keeps_place), as does one that is READY, never came back,
-- and becomes READY. What
-- another one leaves behind goes (lib/deferred_removals.lua). Returns false where the old one is on
-- its way to another queue.
local function replace_message(draft, id)
  local sets = { delayed, leased, dead, outbox }
  local m = find_message(id, sets)
  if m.place == 4 then
    return false
  end
  local was = m.had.suffix or ''
  local incarnation = #was >= 10 and string.sub(was, 1, 10) or ''
  local stays = draft.replace == 2 and (m.place or 1) == 1 or not m.place and not m.text and draft.at_once
  if stays and envelope_read(m.envelope) and incarnation .. string.sub(draft.suffix, 11) == was then
    -- The same incarnation, or none as before: the ticket stays the message's.
    local flags = string.byte(draft.envelope, 2) - (incarnation == '' and 1 or 0)
    draft.envelope = string.sub(draft.envelope, 1, 1) .. string.char(flags) .. string.sub(draft.envelope, 3, 4)
      .. incarnation .. string.sub(draft.envelope, 15)
    draft.keeps_place = true
    return true
  end
  defer_removal('HDEL', attempts, id)
  if m.place then
    defer_removal('ZREM', sets[m.place], m.ticket)
  end
  return true
end
