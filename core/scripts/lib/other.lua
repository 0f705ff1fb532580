-- The name of the queue that has this msg key.
local function queue_of(msg)
  return string.match(msg, '^dueq:{(.*)}:msg$')
end

-- The keys of the other queue that a call works on too: they come behind its own, from KEYS[first] on.
-- Returns them by name, with the queue's name as `queue`; nil where there are none.
local function other_keys(first)
  if not KEYS[first] then
    return nil
  end
  local keys = {}
  local names = { 'msg', 'ready', 'high', 'low', 'delayed', 'leased', 'dead', 'past', 'wake', 'info', 'taken' }
  for i, name in ipairs(names) do
    keys[name] = KEYS[first + i - 1]
  end
  keys.queue = queue_of(keys.msg)
  return keys
end
