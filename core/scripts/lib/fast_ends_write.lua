-- needs awaited batches end_ids end_records end_words format keep_words kept last_kept
-- needs member_words msg over_words started waited
-- Writes what lib/fast_ends.lua has read and added up. That file has found that no key has another
-- type.
if member_words then
  redis.call('HSET', batches, unpack(member_words))
end
if keep_words[1] then
  local last = format('%d', last_kept)
  redis.pcall('HSET', end_records, unpack(end_words))
  redis.pcall('PEXPIREAT', end_records, last)
  redis.pcall('ZADD', kept, unpack(keep_words))
  redis.pcall('PEXPIREAT', kept, last)
  for i = 1, waited and #waited or 0 do
    local token = string.sub(msg, 1, -4) .. 'end_wake:' .. waited[i]
    redis.pcall('ZADD', token, '0', 'w')
    redis.pcall('PEXPIRE', token, '60000')
  end
  if over_words and over_words[1] then
    redis.pcall('HDEL', end_records, unpack(over_words))
    redis.pcall('ZREM', kept, unpack(over_words))
  end
  if waited then
    redis.pcall('ZREM', awaited, unpack(waited))
  end
end
redis.pcall('HDEL', started, unpack(end_ids))
