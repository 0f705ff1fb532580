-- push_group: stores messages that are due now, of which at least one has a group. The core made
-- their ids, so no message can have them yet.
-- keys msg ready wake meta reply
-- includes store_grouped keep_reply_inline
-- args id, envelope of each
-- passes on to push_group_sort
-- Returns a digit for each: 0 stored; or nil, and nothing is stored: too many wait to be sorted.
if redis.call('LLEN', ready) + (#ARGV - 3) / 2 > 250 then
  return nil
end
-- include store_grouped
-- include keep_reply_inline
return answer
