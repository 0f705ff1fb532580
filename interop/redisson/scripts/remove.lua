-- remove: takes the longest offered element of a value away.
-- keys offered timeout reply
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), the value, and what Redisson writes
--         of the same value where that is another
-- Returns 0, or 3 where there is none.

local element, layout = element_of(offered, timeout, tonumber(ARGV[4]), ARGV[5], ARGV[6])
if not layout then
  return layout_error(offered)
end
if not element then
  return keep_foreign_reply(DUEQ_NOT_FOUND)
end
redis.call('ZREM', timeout, element)
redis.call('LREM', offered, 1, element)
return keep_foreign_reply(DUEQ_OK)
