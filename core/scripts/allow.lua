-- allow: sets to which queues messages may go as their own `dead_letter` says, and answers that
-- list.
-- keys msg targets meta
-- includes bulk refuse_layout noop_write
-- args alone: '' changes nothing, 'only' these queues, 'any' queue; then the names of the queues
-- Returns the names in their order; none: any queue.

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
