-- Lists the elements of a delayed queue of Redisson, in the order of the offers.
-- ARGV[1] the destination in braces
-- Returns for each element its layout and its value, or 'neither' and the element.
local offered = 'redisson_delay_queue:' .. ARGV[1]
local timeout = 'redisson_delay_queue_timeout:' .. ARGV[1]
local elements, found = redis.call('LRANGE', offered, 0, -1), {}
if redis.call('ZCARD', timeout) ~= #elements then
  local problem = ' elements are in the list and others have a time'
  return redis.error_reply('ERR ' .. #elements .. problem)
end
for i, element in ipairs(elements) do
  local function sized(head)
    return #element >= head + 8 and struct.unpack('<I8', element, head + 1) == #element - head - 8
  end
  if not redis.call('ZSCORE', timeout, element) then
    return redis.error_reply('ERR element ' .. i .. ' has no time')
  end
  if string.byte(element) == 8 and sized(9) then
    found[i] = { 'new', string.sub(element, 18) }
  elseif sized(8) and struct.unpack('<d', element) % 1 == 0 then
    found[i] = { 'old', string.sub(element, 17) }
  else
    found[i] = { 'neither', element }
  end
end
return found
