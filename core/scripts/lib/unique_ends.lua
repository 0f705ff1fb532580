-- defines drop_unique_ends; needs unique
-- Removes ends of uniqueness that have passed, at most `most`: faster than new ones come.
local function drop_unique_ends(now, most)
  local passed = redis.call('ZCOUNT', unique, '-inf', string.format('%d', now))
  if passed > 0 then
    redis.call('ZREMRANGEBYRANK', unique, 0, math.min(passed, most) - 1)
  end
end
