-- defines add_padded
-- Adds a payload to a set under a score, and returns the payload as it was stored. If the set has
-- the same bytes already, Laravel would merge the two. Blanks at the end, which mean nothing in
-- JSON, tell them apart.
local function add_padded(set, score, payload)
  while redis.call('ZADD', set, 'NX', score, payload) == 0 do
    payload = payload .. ' '
  end
  return payload
end
