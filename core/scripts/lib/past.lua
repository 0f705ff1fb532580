-- What is kept of a message that came back at least once: "deliveries crashes stamp error". The deliveries
-- are those of its current ticket, the crashes leases that ended, the stamp its ticket's ('-': none).
-- Returns them; 0, 0, '' and nil where there is nothing.
local function past_read(past)
  local before, crashes, stamp, text = string.match(past or '', '^(%d+) (%d+) (%S+) (.*)$')
  if not before or #before > 9 or #crashes > 9 then
    return 0, 0, '', nil
  end
  return tonumber(before), tonumber(crashes), text, stamp ~= '-' and stamp or nil
end

local function past_write(before, crashes, text, stamp)
  return string.format('%d %d %s ', before, crashes, stamp or '-') .. text
end
