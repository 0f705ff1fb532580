-- defines join_lines; includes group_line turns
-- Puts tickets at the ends of the lines of their groups. names: the group of each.
local function join_lines(tickets, names)
  lines_read(names)
  for i = 1, #tickets do
    line_append(line_join(names[i]), tickets[i])
  end
end
