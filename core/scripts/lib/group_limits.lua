-- defines group_gate; needs attempts limits msg parked working
-- includes bulk turns at_work group_in limit_number
-- How a reserve keeps to the limits of groups. `working` has how many tickets of each group are
-- leased. A group that has as many as its concurrency says is not in `turns`, but in `parked`, with
-- its virtual time. When a ticket of the group leaves `leased`, the group comes back to `turns`. It
-- is looked at when its turn comes, and parked again if it is still at its limit. Messages without
-- a group have no such limit.
-- A script has room for 200 local names. So these are in a block, and the functions in one table.
local group_gate = {}
do
  -- include at_work
  -- include group_in
  -- include limit_number
  local is_on, each, states = false, nil, {}
  -- The groups whose tickets leave `leased` in this call, and that are not back in the turns yet.
  local freed, has_parked = { nil }, false
  local parking, returning, gone = { nil }, { nil }, { nil }

  -- Reads the limits that hold for each group. Types of keys are checked before the first write.
  function group_gate.begin()
    redis.call('HLEN', msg)
    redis.call('HLEN', attempts)
    redis.call('HLEN', working)
    has_parked = redis.call('ZCARD', parked) > 0
    -- A reserve that cannot read the key delivers nothing.
    each = limit_number(redis.pcall('HMGET', limits, 'each.concurrency')[1]) or math.huge
    states[''] = { number = 0, change = 0, most = math.huge, step = 16384 }
    is_on = true
  end

  -- Reads what is there of groups. The limit of one group goes before that of each. One that cannot
  -- be read counts as none, and check finds it.
  function group_gate.read(names)
    local new, fields = { nil }, { nil }
    for i = 1, #names do
      local name = names[i]
      if not states[name] then
        new[#new + 1], states[name] = name, { change = 0 }
        fields[#fields + 1] = 'g.concurrency:' .. name
        fields[#fields + 1] = 'g.weight:' .. name
      end
    end
    if #new == 0 then
      return
    end
    local numbers, times = redis.call('HMGET', working, unpack(new)),
      redis.call('ZMSCORE', parked, unpack(new))
    local own = redis.pcall('HMGET', limits, unpack(fields))
    for i = 1, #new do
      local state = states[new[i]]
      state.number, state.is_parked = at_work(numbers[i]), times[i]
      state.most = limit_number(own[2 * i - 1]) or each
      state.step = math.max(1, math.floor(16384 / (limit_number(own[2 * i]) or 1)))
    end
  end

  local function state_of(name)
    if not states[name] then
      group_gate.read({ name })
    end
    return states[name]
  end

  -- Whether a message of the group may be delivered.
  function group_gate.is_open(name)
    local state = state_of(name)
    return state.number + state.change < state.most
  end

  -- A ticket of the group is delivered. Returns how much later the next turn of the group is.
  function group_gate.took(name)
    local state = state_of(name)
    state.change = state.change + 1
    return state.step
  end

  -- The ticket is not delivered after all.
  function group_gate.gave_back(name)
    local state = state_of(name)
    state.change = state.change - 1
    return state.step
  end

  -- Notes where the group of a line stands from now on: in `parked`; or, if it was there, in
  -- `turns`. Returns whether it comes back to `turns`.
  function group_gate.returns(line)
    local state = states[line.name]
    if line.parks then
      parking[#parking + 1], parking[#parking + 2] = string.format('%d', line.turn), line.name
    elseif state and state.is_parked then
      returning[#returning + 1] = line.name
      return true
    end
  end

  -- These tickets leave `leased` in this call.
  function group_gate.leave(tickets)
    for i = 1, is_on and #tickets or 0 do
      freed[#freed + 1] = group_in(tickets[i])
    end
  end

  -- The message of a lease that has ended is delivered again, under this ticket.
  function group_gate.enter(ticket)
    local name = is_on and group_in(ticket)
    if name then
      group_gate.took(name)
    end
  end

  -- The groups that got places back come back to the turns. The caller does this before it takes
  -- the first turn, and before it writes. Returns whether any came back.
  function group_gate.bring_back()
    local names = { nil }
    group_gate.read(freed)
    for _, name in ipairs(freed) do
      local state = states[name]
      state.change = state.change - 1
      names[#names + 1] = state.is_parked and name or nil
    end
    freed = { nil }
    lines_read(names)
    for i = 1, #names do
      turn_return(names[i])
    end
    return #names > 0
  end

  -- Whether groups are in `parked`.
  function group_gate.has_parked()
    return has_parked or #parking > 0
  end

  -- Writes what is new; remove() removes what goes.
  function group_gate.write()
    local numbers = { nil }
    for name, state in pairs(states) do
      local number = state.change ~= 0 and name ~= '' and state.number + state.change
      if number and number > 0 then
        numbers[#numbers + 1], numbers[#numbers + 2] = name, string.format('%d', number)
      elseif number then
        gone[#gone + 1] = name
      end
    end
    bulk('HSET', working, numbers)
    bulk('ZADD', parked, parking)
  end

  function group_gate.remove()
    bulk('HDEL', working, gone)
    bulk('ZREM', parked, returning)
  end
end
