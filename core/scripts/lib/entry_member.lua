-- defines entry_member; includes envelope damaged_member
-- What leaves with an entry of the outbox, by what `msg` has of it: 'note', a note for a batch
-- (lib/batch_note.lua); or the envelope, as a table, of a member of a batch that was to go to
-- another queue (push_to.lua); or nil.
local function entry_member(stored)
  local fine, entry
  if string.byte(stored) == 0xD2 then
    fine, entry = pcall(cmsgpack.unpack, string.sub(stored, 2))
  end
  local inner = fine and type(entry) == 'table' and type(entry[3]) == 'string' and entry[3] or ''
  if string.byte(inner) == 0xD4 then
    return 'note'
  end
  local e = string.byte(inner) == 0xD3 and envelope_read(inner)
  if not e then
    -- include damaged_member
    e = damaged_member(inner)
  end
  return e and e.batch and e or nil
end
