-- defines watch_ms note_watch; needs meta
-- How long before a lease's end the queue must be watched: half of the lease, at most 4 s. A
-- consumer takes a message whose lease has ended only if the server answered for so long, so that
-- the holder could have extended the lease.
local function watch_ms(lease)
  return math.floor(math.min(lease, 8000) / 2)
end

-- Notes in `meta` that the server answered a call. watched: "SINCE LAST", as `meta` has it; it goes
-- on, or begins anew after a gap of 3/4 of `span`, in which the server may have been away. Returns
-- SINCE.
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
