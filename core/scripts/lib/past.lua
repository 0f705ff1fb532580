-- What is kept of a message that came back at least once: "attempts crashes error". The attempts are
-- those of its current ticket (one less than of a leased one), the crashes leases that ended.
local function past_read(past)
  local attempts, crashes, text = string.match(past or '', '^(%d+) (%d+) (.*)$')
  if not attempts or #attempts > 9 or #crashes > 9 then
    return 0, 0, text or ''
  end
  return tonumber(attempts), tonumber(crashes), text
end

local function past_write(attempts, crashes, text)
  return string.format('%d %d ', attempts, crashes) .. text
end
