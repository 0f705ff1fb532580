-- defines note_home
-- The queue of the batch that a note in the outbox is for, by what `msg` has of the note
-- (lib/batch_note.lua); nil: it is no note.
local function note_home(stored)
  local fine, entry = false, nil
  if string.byte(stored) == 0xD2 then
    fine, entry = pcall(cmsgpack.unpack, string.sub(stored, 2))
  end
  local is_note = fine and type(entry) == 'table' and type(entry[1]) == 'string'
    and type(entry[3]) == 'string' and string.byte(entry[3]) == 0xD4
  return is_note and entry[1] or nil
end
