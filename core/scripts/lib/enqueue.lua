-- defines enqueue; includes lane wake
-- Puts tickets into their lanes, and wakes consumers if a lane was empty.
local function enqueue(tickets, front)
  if #tickets > 0 and lane_push(tickets, front) then
    wake_one(#tickets > 1)
  end
end
