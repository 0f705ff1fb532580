-- What is kept of a message that came back at least once: "deliveries forgiven crashes tag error".
-- The deliveries are those of its current ticket; the forgiven are those that count as nothing: released,
-- or before it was last kicked; the crashes are leases that ended since then. What is left are failures.
-- The tag is its ticket's ('-': none).
-- Returns the past as a table; one of zeros where there is nothing.
local function past_read(past)
  local before, forgiven, crashes, tag, at = string.match(past or '', '^(%d+) (%d+) (%d+) (%S+) ()')
  local sound = before and #before < 10 and #forgiven < 10 and #crashes < 10
    and forgiven + crashes <= tonumber(before)
    and (tag == '-' or #tag == 10 or (string.find(tag, '^%w*[hl]$') and #tag % 10 == 1))
  if not sound then
    return { before = 0, forgiven = 0, crashes = 0, text = '' }
  end
  return {
    before = tonumber(before),
    forgiven = tonumber(forgiven),
    crashes = tonumber(crashes),
    tag = tag ~= '-' and tag or nil,
    text = string.sub(past, at),
  }
end

local function past_write(past)
  return string.format('%d %d %d %s ', past.before, past.forgiven, past.crashes, past.tag or '-') .. past.text
end

local function failures(past)
  return past.before - past.forgiven - past.crashes
end
