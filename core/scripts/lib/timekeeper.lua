-- defines elect_timekeeper; needs delayed
-- Timekeepers are consumers that look at the next event by their own timers. `meta` has at most
-- two, as texts "AT:SESSION". The first looks at the event's time. The second looks in case the
-- first has died: at the time of the second delayed message, but 50 ms to 1 s after the first. More
-- consumers wait without a timer: then a '+' stands behind the texts.
-- Takes the session's own text back, and drops stale ones. If `stands` is set, the session waits,
-- or keeps the time while it works (busy), and may become a timekeeper. A busy one may die by its
-- message: it keeps the time only beside another timekeeper, or if no other consumer waits. woken:
-- it took a wake token, or was a timekeeper. noted: the event that `meta` has, as a text, or nil.
-- event: `first` as a text. after: the time of the second delayed message (nil: not known).
-- Returns how long to wait in ms (nil: others look), the timekeepers, whether one of them looks at
-- `first`, and the texts of the others (nil: there are none).
local function elect_timekeeper(timekeepers, noted, session, first, event, now, stands, busy, woken,
    after)
  -- Mostly the caller alone keeps the time. To compare is cheaper than to read the text.
  local known, others = noted and timekeepers == noted .. ':' .. session, nil
  local early, pause, others_wait = false, nil, false
  if not known and timekeepers ~= '' then
    local at, owner, at_2, owner_2 = string.match(timekeepers, '^(%d+):([%w-]+) ?(%d*):?([%w-]*)')
    known = owner == session or owner_2 == session
    others_wait = string.find(timekeepers, '+', 1, true)
    if owner and owner ~= session and at + 200 > now then
      others, early = at .. ':' .. owner, first and tonumber(at) <= first
    end
    if owner and at_2 ~= '' and owner_2 ~= '' and owner_2 ~= session and at_2 + 200 > now then
      early = early or first and tonumber(at_2) <= first
      others = (others and others .. ' ' or '') .. at_2 .. ':' .. owner_2
    end
  end
  -- A consumer that took a wake token was perhaps not the only one that waited for it.
  local more = first and (woken and not known or others_wait)
  if busy and more and not others then
    -- The caller wakes one of the consumers that wait. That one tells whether there are more.
    stands, more = false, false
  end
  local text, two = others, others and string.find(others, ' ', 1, true)
  if stands and first and not (early and two) then
    local look = first
    if early then
      after = after or tonumber(redis.pcall('ZRANGE', delayed, '1', '1', 'WITHSCORES')[2] or '')
      look = math.min(math.max(after or math.huge, first + 50), math.max(first, now) + 1000)
      look = math.ceil(look)
      text = others .. string.format(' %d:', look) .. session
    else
      -- They stand in the order of their times: of three, the latest goes.
      text = event .. ':' .. session
      if others then
        text = text .. ' ' .. string.match(others, '^%S+')
      end
    end
    pause, more, early = look > now and look - now or 0, more or two, true
  elseif stands and not busy then
    more = first
  end
  if more then
    text = text and text .. ' +' or '+'
  end
  return pause, text or '', early, others
end
