-- Undoes break.lua.
-- KEYS[1] what the queue's keys begin with; ARGV[1] which key
local key = KEYS[1] .. ARGV[1]
redis.call('DEL', key)
if redis.call('EXISTS', key .. ':aside') == 1 then
  redis.call('RENAME', key .. ':aside', key)
end
return 'OK'
