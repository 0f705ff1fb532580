-- What is kept of a message that came back at least once: "attempts crashes error". The attempts are
-- those of its current ticket (one less than of a leased one), the crashes leases that ended.
local function past_read(past)
  local attempts, crashes, text = string.match(past or '', '^(%d+) (%d+) (.*)$')
  return tonumber(attempts) or 0, tonumber(crashes) or 0, text or ''
end

local function past_write(attempts, crashes, text)
  return string.format('%d %d ', attempts, crashes) .. text
end
