-- defines at_work
-- How many tickets of a group are leased, as a text of `working` says. A text that is no number
-- counts as 0: check counts the tickets.
local function at_work(text)
  return text and #text < 10 and tonumber(string.match(text, '^%d+$')) or 0
end
