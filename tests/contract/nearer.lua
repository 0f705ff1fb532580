-- Lets time pass for sorted sets of other systems.
-- ARGV[1] how much is taken from each score; then the sets' keys
for i = 2, #ARGV do
  for _, member in ipairs(redis.call('ZRANGE', ARGV[i], 0, -1)) do
    redis.call('ZINCRBY', ARGV[i], -ARGV[1], member)
  end
end
return 'OK'
