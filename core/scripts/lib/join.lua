-- Puts tickets into their lines (lib/line.lua), and wakes consumers where one of these was empty.
local function join(tickets, front)
  if #tickets > 0 and line_up(tickets, front) then
    wake_one(#tickets > 1)
  end
end
