-- Keeps the tokens in step with the jobs in the list, as Laravel does: `number` more, or fewer.
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
