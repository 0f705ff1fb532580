-- defines give_places; needs taken_out; includes leaves
-- taken_out: the tickets that the script removes from `leased`. give_places: gives their places
-- back, as lib/leaves.lua says; nil: no ticket names a group. The functions that do so are made
-- only where a ticket names one: other scripts pay nothing for them.
local give_places = nil
for i = 1, #taken_out do
  if string.find(taken_out[i], '=', 1, true) then
    -- include leaves
    leaves(taken_out)
    give_places = write_left
    break
  end
end
