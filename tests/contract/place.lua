-- Puts elements into a delayed queue of Redisson, as Redisson offers them.
-- ARGV[1] the destination in braces; then for each its layout (new, old, raw), its time (ms) and
-- its value
for i = 2, #ARGV, 3 do
  local layout, time, value = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local element = layout == 'new' and struct.pack('<BI8I8c0', 8, i, #value, value)
    or layout == 'old' and struct.pack('<dI8c0', i * 1e12, #value, value) or value
  redis.call('RPUSH', 'redisson_delay_queue:' .. ARGV[1], element)
  redis.call('ZADD', 'redisson_delay_queue_timeout:' .. ARGV[1], time, element)
end
return 'OK'
