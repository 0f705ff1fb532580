-- Refuses the name of a queue of partitions, which has no messages: share puts a text in their place.
if type(redis.pcall('HGET', msg, '')) == 'table' and redis.pcall('GET', msg) == 'partitions' then
  local name = string.match(msg, '^dueq:{(.*)}:msg$')
  local count = redis.pcall('HGET', string.format('dueq:{%s}:partitions', name), 'count')
  count = type(count) == 'string' and count or 'N'
  return redis.error_reply(string.format("LAYOUT the queue '%s' has partitions: open it with their number, %s"
    .. ' (in the shell: --partitions %s)', name, count, count))
end
