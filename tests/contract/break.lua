-- Puts a key of the queue aside and a string in its place.
-- KEYS[1] the prefix of the queue's keys; ARGV[1] the key's name behind it
local key = KEYS[1] .. ARGV[1]
if redis.call('EXISTS', key) == 1 then
  redis.call('RENAME', key, key .. ':aside')
end
redis.call('SET', key, 'foreign')
return 'OK'
