-- needs meta
-- Ends a push of members: their batch is not there.
return redis.error_reply(string.format(
  "INVALID the queue '%s' has no such batch: it has ended, or was never opened",
  string.match(meta, '^dueq:{(.*)}:meta$')))
