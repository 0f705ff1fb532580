-- defines limits_read rate_left; needs limits; includes rate_terms
-- Reads the limits of the queue. In a partition each is the whole queue's, divided by the number of
-- partitions, and rounded up.
-- Returns a table, or nil and an error that names the field: concurrency (huge: no limit), interval
--   (microseconds from a delivery to the next; nil: no limit of the rate), tolerance (how many
--   microseconds a delivery may come before its time), next and noted (when the next delivery has
--   its time, in microseconds since 1970), since (when the queue got its first limit, in ms).
local function limits_read()
  local found = redis.pcall('HMGET', limits, 'concurrency', 'rate', 'burst', 'partitions', 'next',
    'since')
  local rate, unit = string.match(found[2] or '', '^(%d+)/([smh])$')
  local bad = found.err and 'its type'
  local function whole(text, name)
    local number = text and string.find(text, '^[1-9]%d*$') and #text <= 10 and tonumber(text)
    if text and not (number and number <= 1000000) then
      bad = bad or 'its ' .. name
    end
    return number or 1
  end
  local parts = whole(found[4], 'partitions')
  local places = whole(found[1], 'concurrency')
  local number, burst = whole(found[2] and (rate or ''), 'rate'), whole(found[3], 'burst')
  if bad then
    return nil, redis.error_reply(string.format('CORRUPT the limits of the queue cannot be read: '
      .. "%s has %s damaged. Nothing is delivered until 'dueq limit QUEUE' sets them anew",
      limits, bad))
  end
  local limit = {
    concurrency = found[1] and math.ceil(places / parts) or math.huge,
    noted = tonumber(found[5] or '') or 0, since = tonumber(found[6] or '') or 0,
  }
  limit.next = limit.noted
  if rate then
    rate_terms(limit, math.ceil(number / parts), unit, found[3] and math.ceil(burst / parts))
  end
  return limit
end

-- How many messages the rate allows now, and from when on it allows the next one, in ms. This is
-- the virtual scheduling algorithm of the GCRA (ITU-T Recommendation I.371, annex A). us: the
-- server's clock in microseconds.
local function rate_left(limit, us)
  if not limit.interval then
    return math.huge, 0
  end
  -- It is later only if the rate was changed, or the clock was set back.
  local latest = us + limit.tolerance + limit.interval
  limit.next = limit.next < latest and limit.next or latest
  local early = math.max(limit.next, us) - us
  return math.max(0, math.floor((limit.tolerance - early) / limit.interval + 1)),
    math.ceil((limit.next - limit.tolerance) / 1000)
end
