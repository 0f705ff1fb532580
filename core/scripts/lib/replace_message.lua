-- defines replace_message; needs attempts dead delayed leased meta outbox
-- includes message envelope deferred_removals wake leaves note_end
-- Replaces the existing message of a draft's id. The message keeps its ticket and its place
-- (draft.keeps_place) if it is ready or delayed and the draft replaces only its body, or if it is
-- ready, never came back, and the draft is due now. Otherwise the old ticket and attempts go at the
-- script's end. Returns false if the message is in the outbox, on its way to another queue.
-- Several drafts of a call may replace the same message, which ends once.
local replaced = {}
local function replace_message(draft, id)
  local sets = { delayed, leased, dead, outbox }
  local m = find_message(id, sets)
  if m.place == 4 then
    return false
  end
  local was = m.had.suffix or ''
  local incarnation = string.match(was, '^!?(' .. string.rep('%w', 10) .. ')') or ''
  local mark = string.match(draft.suffix, '^!?')
  local stays = draft.replace == 2 and (m.place or 1) == 1
    or not m.place and not m.text and draft.at_once
  if stays and envelope_read(m.envelope)
    and mark .. incarnation .. string.sub(draft.suffix, #mark + 11) == was then
    if not replaced[id] then
      note_end(id, m.envelope, 'replaced', m.ticket, '', '')
    end
    replaced[id] = true
    -- The message keeps its ticket, so the draft takes over the incarnation, or has none.
    local flags = string.byte(draft.envelope, 2) - (incarnation == '' and 1 or 0)
    draft.envelope = string.sub(draft.envelope, 1, 1) .. string.char(flags)
      .. string.sub(draft.envelope, 3, 4)
      .. incarnation .. string.sub(draft.envelope, 15)
    draft.keeps_place = true
    return true
  end
  if m.place ~= 3 and not replaced[id] then
    note_end(id, m.envelope, 'replaced', m.ticket, '', '')
  end
  defer_removal('HDEL', attempts, id)
  if m.place then
    defer_removal('ZREM', sets[m.place], m.ticket)
  end
  if m.place ~= 3 then
    leaves({ m.ticket }, m.place ~= 2)
  end
  if m.place == 2 then
    if redis.pcall('HGET', meta, 'held') == '1' then
      wake_one()
    end
  end
  return true
end
