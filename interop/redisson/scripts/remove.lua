-- remove: deletes a waiting element of a value; of several, the one that was offered first.
-- keys offered timeout reply
-- includes element_of layout_found keep_foreign_reply
-- ARGV    number, keep, minute, layout (0 as found, 1 new, 2 old), the value, and, if Redisson
--         writes the same value in other bytes, these
-- Returns 0, or 3: not found.

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
