-- defines outbox_entry_read; needs attempts; includes is_name text envelope attempts
-- Reads an entry of the outbox. It is a successor for another queue (0xD2 and, as MessagePack, {
-- queue, id, envelope, due, extra }, and a sixth text if a message named the queue), a note for a
-- batch, which has its id and the note in the places of id and envelope (lib/batch_note.lua), or a
-- message whose policy names another dead-letter queue.
-- Returns nil if it is neither, else the queue's name, id, envelope, due word, extra; of a dead
-- letter its attempts as a table, forgiven; and whether a message named the queue, not a worker.
local function outbox_entry_read(id, stored)
  if string.byte(stored) == 0xD2 then
    local fine, entry = pcall(cmsgpack.unpack, string.sub(stored, 2))
    fine = fine and type(entry) == 'table'
    for i = 1, 5 do
      fine = fine and type(entry[i]) == 'string'
    end
    if fine and is_name(entry[1]) and is_text(entry[2])
      and (string.byte(entry[3]) == 0xD4 or envelope_read(entry[3])) then
      return entry[1], entry[2], entry[3], entry[4], entry[5], nil, entry[6]
    end
    return nil
  end
  local e = envelope_read(stored)
  if e and e.dead_letter then
    local had = attempts_read(redis.call('HGET', attempts, id))
    had.forgiven, had.crashes = had.deliveries, 0
    return e.dead_letter, id, stored, '0', '', had, true
  end
end
