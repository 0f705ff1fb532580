-- Puts a payload into a set under a score, and keeps one of the same bytes that is there already, which
-- Laravel would merge with it: blanks at the end, which mean nothing in JSON, tell them apart. Returns it as
-- it is there.
local function add_padded(set, score, payload)
  while redis.call('ZADD', set, 'NX', score, payload) == 0 do
    payload = payload .. ' '
  end
  return payload
end
