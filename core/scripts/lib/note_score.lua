-- needs meta; includes note_sooner
-- Reads the next event that `meta` has, and does as lib/note_sooner.lua.
local noted = redis.pcall('HGET', meta, 'next_event')
-- include note_sooner
