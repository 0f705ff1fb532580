-- include known
-- Refuses the name of a queue of partitions, which has no messages: share puts a text in their place.
if type(redis.pcall('HGET', msg, '')) == 'table' and redis.pcall('GET', msg) == 'partitions' then
  return redis.error_reply(string.format("LAYOUT the queue '%s' has partitions: name their number where it is opened",
    string.match(msg, '^dueq:{(.*)}:msg$')))
end
