-- What is kept of a message that came back at least once:
-- "deliveries forgiven crashes stamp error". The deliveries are those of its current ticket; the forgiven
-- are those before it was last kicked, which no longer count as attempts; the crashes are leases that
-- ended; the stamp is its ticket's ('-': none).
-- Returns the past as a table; one of zeros where there is nothing.
local function past_read(past)
  local before, forgiven, crashes, stamp, text = string.match(past or '', '^(%d+) (%d+) (%d+) (%S+) (.*)$')
  if not before or #before > 9 or #forgiven > 9 or #crashes > 9 then
    return { before = 0, forgiven = 0, crashes = 0, text = '' }
  end
  return {
    before = tonumber(before),
    forgiven = tonumber(forgiven),
    crashes = tonumber(crashes),
    stamp = stamp ~= '-' and stamp or nil,
    text = text,
  }
end

local function past_write(past)
  return string.format('%d %d %d %s ', past.before, past.forgiven, past.crashes, past.stamp or '-') .. past.text
end
