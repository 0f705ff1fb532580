-- defines elect_timekeeper; needs delayed
-- Timekeepers are waiting consumers that look at the next event by their own timers. `meta` has at
-- most two, as texts "AT:SESSION". The first looks at the event's time. The second looks in case
-- the first has died: at the time of the second delayed message, but 50 ms to 1 s after the first.
-- More consumers wait without a timer.
-- Takes the session's own text back, and drops stale ones. If the session waits, it may become a
-- timekeeper.
-- Returns how long to wait in ms (nil: others look), the timekeepers, and whether they changed.
local function elect_timekeeper(timekeepers, session, first, now, wait)
  local kept, early = {}, false
  for at, owner in string.gmatch(timekeepers or '', '(%d+):(%w+)') do
    at = tonumber(at)
    if owner ~= session and at + 200 > now and #kept < 2 then
      kept[#kept + 1] = string.format('%d:%s', at, owner)
      early = early or (first and at <= first)
    end
  end
  local pause
  if wait and first and (not early or #kept < 2) then
    local at = first
    if early then
      local second = redis.pcall('ZRANGE', delayed, '1', '1', 'WITHSCORES')
      local next_but_one = tonumber(second[2] or '') or math.huge
      at = math.ceil(math.min(math.max(next_but_one, first + 50), math.max(first, now) + 1000))
    end
    pause = math.max(at - now, 0)
    -- They stand in the order of their times: of three, the latest goes.
    table.insert(kept, early and 2 or 1, string.format('%d:%s', at, session))
    kept[3] = nil
  end
  local text = table.concat(kept, ' ')
  return pause, text, text ~= (timekeepers or '')
end
