-- defines finish_reserve; needs meta msg reply wake; includes timekeeper wake wake_at
-- includes has_timekeeper
-- Ends a reserve: elects the timekeeper, writes `meta`, and wakes a consumer if one is needed. n:
-- messages delivered. left: messages that stay ready. first: the next event (nil: none). noted: the
-- next event that `meta` has. fields: what `meta` gets beside. events_due: this call looked at what
-- is due, and found `due` messages. after: the time of the delayed message after the next (nil: not
-- known).
-- Returns the wait in us (0: call again at once; -1 - us: others look), and 1 if the caller is a
-- timekeeper, 2 if only the caller looks, 3 if two others look
-- and the caller took all that was due.
local function finish_reserve(n, left, first, noted, fields, events_due, due, timekeepers, now, us,
    after)
  -- The flags 'o' (111), 'r' (114), 'w' (119) and 'k' (107).
  local kind, rewake, wait = string.byte(ARGV[6], 1, 3)
  local must_rewake, waits = rewake == 114, n == 0 and (wait == 119 or wait == 107)
  -- Who took what fell due looks at the next event, too, if nothing is left for others.
  local keeps_time = n > 0 and due > 0 and left == 0 and wait == 107
  local pause, keeps, event = -1 - us, 0, first and string.format('%d', first) or ''
  local text, covered, others, token = timekeepers or '', nil, nil, nil
  if n == 0 and (left > 0 or (first and first <= now)) then
    pause, waits = 0, false
  end
  if must_rewake and n == 0 and not waits and first and redis.call('EXISTS', msg) == 0 then
    -- The next event that was noted is of no message any more. An empty queue keeps no token.
    pause, first, event = -1 - us, nil, ''
  end
  if waits and kind == 111 then
    -- Only its own consumer looks at a partition. So this consumer waits with a timer, and no
    -- timekeeper is elected.
    if first then
      pause, keeps = (first - now) * 1000 - us, 2
    end
    text = ''
  elseif must_rewake or waits or keeps_time then
    -- The key `reply` has "reply:SESSION" where the key `msg` has "msg".
    local had, session, ms = timekeepers or '', string.sub(reply, #msg + 4), nil
    local place = must_rewake and #ARGV[6] > 6 and string.sub(ARGV[6], 7)
    local score = waits and string.find(had, '-', 1, true) and redis.pcall('ZSCORE', wake, 't')
    if type(score) == 'string' then
      -- No consumer waits, as none has taken the token of the next event.
      token, place, had = 't', '0', string.gsub(had, ' ?%+', '')
    end
    if place then
      had = string.gsub(had, (place == '0' and '%d+' or place) .. ':%- ?', '')
    end
    -- include timekeeper
    ms, text, covered, others = elect_timekeeper(had, noted, session, first, event, now,
      waits or keeps_time, n > 0, must_rewake, after)
    if ms then
      pause, keeps = ms * 1000 - us, 1
    elseif keeps_time and covered then
      keeps = 3
    end
  end
  local finds_more = left > 0 and (must_rewake or events_due)
  local wakes = first and not (waits or finds_more) and (must_rewake or event ~= noted)
  if covered == nil and wakes then
    -- include has_timekeeper
    covered = has_timekeeper(timekeepers, first, now)
  end
  if wakes and not covered then
    -- include wake_at
    text = wake_at(event, text)
  end
  if text ~= (timekeepers or '') then
    fields[#fields + 1], fields[#fields + 2] = 'timekeepers', text
  end
  if event ~= (noted or '') then
    fields[#fields + 1], fields[#fields + 2] = 'next_event', event
  end
  if #fields > 0 then
    redis.call('HSET', meta, unpack(fields))
  end
  if waits and not others then
    -- Nothing is ready, and a timekeeper looks at the next event: nobody needs to be woken. Another
    -- timekeeper that waits has taken the token already.
    redis.pcall('ZREM', wake, 'w', 'x', token or 'x')
  elseif token then
    redis.pcall('ZREM', wake, token)
  elseif finds_more then
    -- include wake
    wake_one(left > 1)
  end
  return pause, keeps
end
