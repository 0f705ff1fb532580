-- needs floor last_joined
-- The turn of a group that is new, or comes back: behind the group that came before it. The step
-- between them is small: many groups fit between the floor and the second turn of a group that was
-- served. From there on it is 1: a flood of new groups does not keep groups with a second turn away
-- for long.
local from = last_joined > floor and last_joined or floor
last_joined = from + (from < floor + 16384 and 16 or 1)
