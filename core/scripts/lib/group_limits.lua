-- defines group_gate; needs attempts holds limits meta msg parked rated timers working
-- includes bulk turns at_work group_in limit_number limits limited_by rate_terms clear strict_order
-- includes served_at
-- How a reserve keeps to the limits of groups, and to holds. `working` has how many tickets of each
-- group are leased, `rated` from when on the next one has its time by the rate, in microseconds,
-- `holds` until when a group is held. A group of which no message may be delivered now is not in
-- `turns`, but in `parked`, with its virtual time; and in `timers`, if it waits for a time. It
-- comes back to `turns` at that time; or, if it has none, when a ticket of it leaves `leased`. It
-- is looked at when its turn comes, and parked again if it must wait on. Messages without a group
-- have no such limit. A script has room for 200 local names. So these are in a block, and the
-- functions in one table.
local group_gate = {}
do
  -- include at_work
  -- include group_in
  -- include limit_number
  -- include limited_by
  -- include clear
  -- include strict_order
  -- include served_at
  local is_on, now, us, each, each_order, states = false, 0, 0, nil, nil, {}
  -- The groups whose tickets leave `leased` in this call, and that are not back in the turns yet.
  local freed, has_parked, has_rated, holding = { nil }, false, false, 0
  -- The groups of begun messages that came to their lines (lib/strict_order.lua).
  local resumed = { nil }
  -- The groups whose timers are due, and the time of the next timer.
  local due, next_timer, has_timers, has_looked = { nil }, math.huge, false, false
  local ends, limited = false, nil
  local parking, returning, gone, waiting, past = { nil }, { nil }, { nil }, { nil }, { nil }

  -- Reads the limits that hold for each group. Types of keys are checked before the first write.
  -- us_now: the server's clock in microseconds.
  function group_gate.begin(us_now)
    is_on, us, now = true, us_now, math.floor(us_now / 1000)
    redis.call('HLEN', msg)
    redis.call('HLEN', attempts)
    redis.call('HLEN', working)
    has_parked = redis.call('ZCARD', parked) > 0
    has_rated, holding = redis.call('ZCARD', rated) > 0, redis.call('ZCARD', holds)
    next_timer = tonumber(redis.call('ZRANGE', timers, 0, 0, 'WITHSCORES')[2] or '') or math.huge
    has_timers = next_timer < math.huge
    -- A reserve that cannot read the key delivers nothing.
    each = redis.pcall('HMGET', limits, 'each.concurrency', 'each.rate', 'each.burst', 'each.order')
    each_order = each[4]
    if each_order then
      strict_begin()
    end
    states[''] = { number = 0, change = 0, taken = 0, most = math.huge, step = 16384 }
  end

  -- What the rate of a group allows now.
  local function read_rate(state, rate, burst, noted)
    local number, unit = string.match(rate or '', '^(%d+)/([smh])$')
    if limit_number(number) then
      state.noted = tonumber(noted or '') or 0
      state.next = state.noted
      rate_terms(state, limit_number(number), unit, limit_number(burst))
      state.allowed = rate_left(state, us)
    end
  end

  -- Reads the limits of these groups, and what they use of them. A limit of the group itself counts
  -- before that of each group. A limit that cannot be read counts as none.
  function group_gate.read(names)
    local new, fields, kinds = { nil }, { nil }, { 'concurrency:', 'weight:', 'rate:', 'burst:' }
    -- If a group has an order of its own, `each.order` is set, too.
    if each_order then
      table.insert(kinds, 1, 'order:')
    end
    for i = 1, #names do
      local name = names[i]
      if not states[name] then
        new[#new + 1], states[name] = name, { change = 0, taken = 0 }
        for _, what in ipairs(kinds) do
          fields[#fields + 1] = 'g.' .. what .. name
        end
      end
    end
    if #new == 0 then
      return
    end
    local numbers, times = redis.call('HMGET', working, unpack(new)),
      redis.call('ZMSCORE', parked, unpack(new))
    local own = redis.pcall('HMGET', limits, unpack(fields))
    local rates = has_rated and redis.call('ZMSCORE', rated, unpack(new)) or {}
    local ends = holding > 0 and redis.call('ZMSCORE', holds, unpack(new)) or {}
    for i = 1, #new do
      local state, at = states[new[i]], #kinds * i
      local order = each_order and (own[at - 4] or each_order)
      state.number, state.is_parked = at_work(numbers[i]), times[i]
      state.most = limit_number(own[at - 3]) or limit_number(each[1]) or math.huge
      state.most = (order == 'fifo' or order == 'strict') and 1 or state.most
      state.is_strict = order == 'strict'
      state.step = math.max(1, math.floor(16384 / (limit_number(own[at - 2]) or 1)))
      read_rate(state, own[at - 1] or each[2], own[at] or each[3], rates[i])
      -- No hold is so long.
      local held_until = tonumber(ends[i] or '') or 0
      state.held_until = held_until <= 4102444800000 and held_until or 0
    end
  end

  local function state_of(name)
    if not states[name] then
      group_gate.read({ name })
    end
    return states[name]
  end

  -- From when on the hold and the rate allow the next message of the group, in ms; 0: now. A group
  -- of which is not known whether it waits is looked at again soon.
  local function opens_at(state)
    local at = state.is_unsure and now or (state.held_until or 0) > now and state.held_until or 0
    if state.allowed and state.taken >= state.allowed then
      local next = math.max(state.next, state.taken > 0 and us or 0) + state.taken * state.interval
      at = math.max(at, math.ceil((next - state.tolerance) / 1000))
    end
    return at
  end

  -- Whether a message of the group may be delivered.
  function group_gate.is_open(line)
    local state, waits = state_of(line.name), false
    local has_place = state.number + state.change < state.most and opens_at(state) == 0
    if has_place and state.is_strict then
      waits, state.is_unsure = strict_waits(line)
    end
    return has_place and not waits
  end

  -- A ticket of the group is delivered. Returns how much later the next turn of the group is.
  function group_gate.took(name)
    local state = state_of(name)
    state.change, state.taken = state.change + 1, state.taken + 1
    return state.step
  end

  -- The ticket is not delivered after all.
  function group_gate.gave_back(name)
    local state = state_of(name)
    state.change, state.taken = state.change - 1, state.taken - 1
    return state.step
  end

  -- Notes where the group of a line stands from now on: in `parked`; or, if it was there, in
  -- `turns`. Returns whether it comes back to `turns`.
  function group_gate.returns(line)
    local state = states[line.name]
    if line.parks then
      parking[#parking + 1], parking[#parking + 2] = string.format('%d', line.turn), line.name
      local at = opens_at(state)
      if at > 0 then
        waiting[#waiting + 1], waiting[#waiting + 2] = string.format('%d', at), line.name
        next_timer, state.waits = math.min(next_timer, at), true
      elseif has_timers then
        -- A purge leaves a group's time here. It must not keep the group from its next place.
        past[#past + 1] = line.name
      end
    elseif state and state.is_parked then
      returning[#returning + 1] = line.name
      return true
    end
  end

  -- The message of a ticket ends in this call, which removes the message later.
  group_gate.ends = strict_ends

  -- These tickets leave `leased` in this call. are_over: their messages end.
  function group_gate.leave(tickets, are_over)
    for i = 1, is_on and #tickets or 0 do
      freed[#freed + 1] = group_in(tickets[i])
      if are_over then
        strict_ends(tickets[i])
      end
    end
  end

  -- The message of a ticket is delivered.
  function group_gate.begins(ticket)
    local name = is_on and group_in(ticket)
    if name and states[name].is_strict then
      strict_begins(ticket)
    end
  end

  -- Whether a ticket that comes to the line of its group goes to the front.
  function group_gate.is_begun(ticket, name)
    local goes_first = is_begun(ticket)
    resumed[#resumed + 1] = goes_first and name or nil
    return goes_first
  end

  -- The message of a lease that has ended is delivered again, under this ticket.
  function group_gate.enter(ticket)
    local name = is_on and (group_in(ticket) or '')
    if name then
      group_gate.took(name)
      group_gate.begins(ticket)
    end
  end

  -- For how many ms such a message must wait, as its group is held, or its rate is used up. It
  -- keeps no place meanwhile.
  function group_gate.wait(name)
    return is_on and name ~= '' and math.max(0, opens_at(state_of(name)) - now) or 0
  end

  -- The groups that got places back, or whose begun messages came, come back to the turns. The
  -- caller does this before it takes the first turn, and before it writes. takes: turns are taken
  -- after this: then the groups whose timers are due come back, too, at most 100. Returns whether
  -- any came back.
  function group_gate.bring_back(takes)
    local names = { nil }
    if is_on and takes and not has_looked and next_timer <= now then
      has_looked = true
      due = redis.call('ZRANGEBYSCORE', timers, '-inf', string.format('%d', now), 'LIMIT', 0, 100)
      next_timer = tonumber(redis.call('ZRANGE', timers, #due, #due, 'WITHSCORES')[2] or '')
        or math.huge
      group_gate.read(due)
      for _, name in ipairs(due) do
        names[#names + 1] = states[name].is_parked and name or nil
      end
    end
    group_gate.read(freed)
    for _, name in ipairs(freed) do
      states[name].change = states[name].change - 1
    end
    group_gate.read(resumed)
    local back = freed
    for _, name in ipairs(resumed) do
      back[#back + 1] = name
    end
    local timed = #back > 0 and redis.call('ZMSCORE', timers, unpack(back)) or {}
    for i, name in ipairs(back) do
      names[#names + 1] = states[name].is_parked and not timed[i] and name or nil
    end
    freed, resumed = { nil }, { nil }
    lines_read(names)
    for i = 1, #names do
      turn_return(names[i])
    end
    return #names > 0
  end

  -- Whether groups are in `parked`: then the virtual time goes on.
  function group_gate.has_parked()
    return has_parked or #parking > 0
  end

  -- When the next group comes back by its timer, in ms; huge: none does.
  function group_gate.next_timer()
    return next_timer
  end

  -- Counts deliveries of a group in this minute of the server's clock. The counts of a minute are
  -- needed until the next one ends. A minute has those of 10,000 groups at most: the server stops
  -- while it frees a larger hash.
  local function count_served(name, number)
    local counts = served_at(now)
    local size = redis.pcall('HINCRBY', counts, name, number) == number
      and redis.call('HLEN', counts)
    if size == 1 then
      redis.call('PEXPIREAT', counts, string.format('%d', now - now % 60000 + 119999))
    elseif size and size > 10000 then
      redis.call('HDEL', counts, name)
    end
  end

  -- Writes what is new; remove() removes what goes.
  function group_gate.write()
    local numbers, times = { nil }, { nil }
    for name, state in pairs(states) do
      if state.taken > 0 then
        count_served(name, state.taken)
      end
      local number = state.change ~= 0 and name ~= '' and state.number + state.change
      if number and number > 0 then
        numbers[#numbers + 1], numbers[#numbers + 2] = name, string.format('%d', number)
      elseif number then
        gone[#gone + 1] = name
      end
      if state.interval and (state.taken > 0 or state.next ~= state.noted) then
        local next = math.max(state.next, state.taken > 0 and us or 0)
          + state.taken * state.interval
        times[#times + 1], times[#times + 2] = string.format('%.3f', next), name
      end
    end
    -- After the last hold the queue needs no such reserves any more, unless it has limits of
    -- groups.
    ends = holding > 0 and not group_gate.has_parked()
      and redis.call('ZCOUNT', holds, '-inf', string.format('%d', now)) == holding
    limited = ends and limited_by()
    ends = ends and limited ~= '2'
    bulk('HSET', working, numbers)
    bulk('ZADD', rated, times)
    bulk('ZADD', parked, parking)
    bulk('ZADD', timers, waiting)
    strict_write(us)
  end

  -- Removes the members of a set whose time has passed.
  local function remove_passed(set, time)
    local passed = redis.call('ZCOUNT', set, '-inf', string.format('%d', time))
    if passed > 0 then
      redis.call('ZREMRANGEBYRANK', set, 0, passed - 1)
    end
  end

  function group_gate.remove()
    strict_remove()
    bulk('ZREM', parked, returning)
    if ends then
      clear_hash(working)
      clear_set(timers)
      clear_set(rated)
      clear_set(holds)
      if limited then
        redis.call('HSET', meta, 'limited', limited)
      else
        redis.call('HDEL', meta, 'limited')
      end
      return
    end
    for _, name in ipairs(due) do
      past[#past + 1] = not states[name].waits and name or nil
    end
    bulk('HDEL', working, gone)
    bulk('ZREM', timers, past)
    if holding > 0 and not group_gate.has_parked() then
      remove_passed(holds, now)
    end
    if has_rated then
      -- A time that has passed allows as much as none.
      remove_passed(rated, us)
    end
  end
end
