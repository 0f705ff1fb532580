-- needs msg; includes queue_name
-- Refuses the name of a queue with partitions. It has no messages: assignment.lua puts a text in
-- their place.
if type(redis.pcall('HGET', msg, '')) == 'table' then
  local text = redis.pcall('GET', msg)
  local count = type(text) == 'string' and string.match(text, '^partitions (%d+)$')
  if count then
    -- include queue_name
    return redis.error_reply(string.format(
      "LAYOUT the queue '%s' has partitions: open it with their number, %s"
      .. ' (in the shell: --partitions %s)', queue_name(), count, count))
  end
end
