-- defines attempts_read attempts_write failure_count; includes suffix
-- The attempts of a message that came back at least once, as text: "DELIVERIES FORGIVEN CRASHES
-- SUFFIX ERROR". DELIVERIES: of its current ticket. FORGIVEN: the deliveries that do not count,
-- because they were released or came before the last kick. CRASHES: leases that ended since then.
-- All other deliveries are failures. SUFFIX: of its ticket ('-': none).
-- Returns a table; all numbers are 0 if the text is missing or unsound.
local function attempts_read(text)
  local deliveries, forgiven, crashes, suffix, at =
    string.match(text or '', '^(%d+) (%d+) (%d+) (%S+) ()')
  local sound = deliveries and #deliveries < 10 and #forgiven < 10 and #crashes < 10
    and forgiven + crashes <= tonumber(deliveries)
    and (suffix == '-' or is_suffix(suffix))
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
  return string.format('%d %d %d %s ', had.deliveries, had.forgiven, had.crashes, had.suffix or '-')
    .. had.error
end

local function failure_count(had)
  return had.deliveries - had.forgiven - had.crashes
end
