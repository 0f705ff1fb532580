-- needs answer has_unique id now unique window; includes unique_ends
-- The end of a push of one message: if it is stored and has a window, its id stays unique for so
-- many ms, also without a message.
if window and answer == '0' then
  redis.call('ZADD', unique, string.format('%d', now + window), id)
end
if has_unique then
  -- include unique_ends
  drop_unique_ends(now, 102)
end
