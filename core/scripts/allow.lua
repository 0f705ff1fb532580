-- allow: sets and returns the queues to which messages may move by their own `dead_letter`.
-- keys msg targets meta
-- includes bulk refuse_layout noop_write
-- args alone: '' changes nothing, 'only' these queues, 'any' queue; then the queues' names
-- Returns the names, sorted; none: any queue.

-- include refuse_layout
local names, removed, wanted = {}, {}, {}
if ARGV[1] == 'any' then
  redis.call('UNLINK', targets)
  return names
end
if ARGV[1] == 'only' then
  -- include noop_write
  redis.call('SADD', targets, unpack(ARGV, 2))
end
for i = 2, #ARGV do
  wanted[ARGV[i]] = true
end
for _, name in ipairs(redis.call('SMEMBERS', targets)) do
  table.insert((ARGV[1] == '' or wanted[name]) and names or removed, name)
end
table.sort(names)
bulk('SREM', targets, removed)
return names
