-- defines attempts_read attempts_write failure_count
-- What is kept of a message that came back at least once: "deliveries forgiven crashes suffix
-- error".
-- The deliveries are those of its current ticket; the forgiven are those that count as nothing:
-- released,
-- or before it was last kicked; the crashes are leases that ended since then. What is left are
-- failures.
-- The suffix is its ticket's ('-': none).
-- Returns these as a table; one of zeros where there is nothing.
local function attempts_read(text)
  local deliveries, forgiven, crashes, suffix, at = string.match(text or '', '^(%d+) (%d+) (%d+) (%S+) ()')
  local sound = deliveries and #deliveries < 10 and #forgiven < 10 and #crashes < 10
    and forgiven + crashes <= tonumber(deliveries)
    and (suffix == '-' or #suffix == 10 or (string.find(suffix, '^%w*[hl]$') and #suffix % 10 == 1))
  if not sound then
    return { deliveries = 0, forgiven = 0, crashes = 0, error = '' }
  end
  return {
    deliveries = tonumber(deliveries),
    forgiven = tonumber(forgiven),
    crashes = tonumber(crashes),
    suffix = suffix ~= '-' and suffix or nil,
    error = string.sub(text, at),
  }
end

local function attempts_write(had)
  return string.format('%d %d %d %s ', had.deliveries, had.forgiven, had.crashes, had.suffix or '-') .. had.error
end

local function failure_count(had)
  return had.deliveries - had.forgiven - had.crashes
end
