-- defines watch_ms note_watch; needs meta
-- How long before a lease's end the queue is to be watched, so that its holder could have extended
-- it: half of it, 4 s at
-- most. A message whose lease has ended is delivered by a consumer only if the queue has been
-- watched for so long.
local function watch_ms(lease)
  return math.floor(math.min(lease, 8000) / 2)
end

-- Notes in `meta` that the server answers somebody who works with the queue: `watched` ("SINCE
-- LAST", what meta says) goes
-- on, or begins anew after a gap of 3/4 of `span`, in which the server may have been away. Returns
-- since when it goes on.
local function note_watch(watched, span, now)
  local since, last = string.match(watched or '', '^(%d+) (%d+)$')
  since, last = tonumber(since), tonumber(last or '')
  if not last or since > last or last > now or now - last > math.max(span * 0.75, 375) then
    since, last = now, 0
  end
  if now - last >= span / 8 then
    redis.pcall('HSET', meta, 'watched', string.format('%d %d', since, now))
  end
  return since
end
