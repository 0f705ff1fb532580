-- needs at noted now score; includes note_event
-- Notes that a message falls due at the time `at`, of which `score` is the text. noted: the next
-- event that `meta` has. Mostly that is an earlier one. Two texts of digits compare as numbers if
-- they have one size, and Lua reads a number slowly.
if not (noted and #noted == #score and noted <= score) then
  -- include note_event
  note_event(at, now)
end
