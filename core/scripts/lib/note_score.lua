-- needs at meta now score; includes note_event
-- Notes that a message falls due at the time `at`, of which `score` is the text. Mostly an earlier
-- event is noted. Two texts of digits compare as numbers if they have one size, and Lua reads a
-- number slowly.
local noted = redis.pcall('HGET', meta, 'next_event')
if not (noted and #noted == #score and noted <= score) then
  -- include note_event
  note_event(at, now)
end
