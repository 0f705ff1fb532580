-- The line that a ticket waits in: 'high', 'low' or (usually) 'ready'.
local function line_of(ticket)
  local tag = string.match(ticket, '^%d+%.(%w+):')
  if tag and (#tag == 1 or #tag == 11) then
    return string.byte(tag, -1) == 104 and 'high' or 'low'
  end
  return 'ready'
end

-- Puts tickets at the end of the lines of their priorities. Returns whether one of these was empty.
local function line_up(keys, tickets)
  local lines, was_empty = { high = {}, ready = {}, low = {} }, false
  for _, ticket in ipairs(tickets) do
    local line = lines[line_of(ticket)]
    line[#line + 1] = ticket
  end
  for name, line in pairs(lines) do
    if #line > 0 then
      was_empty = redis.call('RPUSH', keys[name], unpack(line)) == #line or was_empty
      if name ~= 'ready' then
        redis.pcall('HSET', keys.info, 'lists', '1')
      end
    end
  end
  return was_empty
end

-- Raises the error of a foreign value under a key that line_up writes.
local function line_check(keys)
  redis.call('LLEN', keys.high)
  redis.call('LLEN', keys.ready)
  redis.call('LLEN', keys.low)
  redis.call('HLEN', keys.info)
end
