-- includes queue_name
-- Ends a push of members: their batch is not there.
-- include queue_name
return redis.error_reply(string.format(
  "INVALID the queue '%s' has no such batch: it has ended, or was never opened", queue_name()))
