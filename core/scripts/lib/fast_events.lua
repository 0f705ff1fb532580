-- defines n surplus; needs direct due events_due most ready_count tickets; includes fast_due
-- Adds the due tickets to those of a fast reserve. n: how many messages it delivers; surplus: how
-- many more tickets are due.
-- A caller that asks for no messages only settles. The next caller that asks for some moves due
-- ones.
events_due = events_due and most > 0
if events_due then
  -- include fast_due
  direct = math.min(#due, most - ready_count)
  for i = 1, direct do
    tickets[ready_count + i] = due[i]
  end
end
local n, surplus = #tickets, due and #due - direct or 0
