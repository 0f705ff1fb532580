-- defines adjust_tokens
-- Adds `number` tokens, or removes -number, so that there is one for each job in the list, as in
-- Laravel.
local function adjust_tokens(notify, number)
  if number < 0 then
    redis.call('LPOP', notify, -number)
  end
  local tokens = {}
  for i = 1, number do
    tokens[i] = '1'
  end
  if number > 0 then
    redis.call('RPUSH', notify, unpack(tokens))
  end
end
