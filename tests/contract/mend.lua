-- Undoes break.lua.
-- KEYS[1] the prefix of the queue's keys; ARGV[1] the key's name behind it
local key = KEYS[1] .. ARGV[1]
redis.call('DEL', key)
if redis.call('EXISTS', key .. ':aside') == 1 then
  redis.call('RENAME', key .. ':aside', key)
end
return 'OK'
