-- needs meta; includes refuse_layout
-- The error of a push to a batch that is not there.
-- include refuse_layout
return redis.error_reply(string.format(
  "INVALID the queue '%s' has no such batch: it has ended, or was never opened",
  string.match(meta, '^dueq:{(.*)}:meta$')))
