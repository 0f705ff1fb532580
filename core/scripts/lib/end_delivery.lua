-- needs give_places held; includes deferred_removals wake
-- The end of a script that takes a ticket out of `leased`.
local returned = give_places and give_places() or 0
run_removals()
if held or returned > 0 then
  wake_one()
end
