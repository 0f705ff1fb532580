-- defines cursor_after set_page; includes decimal
-- The cursor behind a member of a sorted set.
local function cursor_after(member, score)
  return decimal(tonumber(score)) .. ' ' .. member
end

-- A page of a sorted set, by score: up to `most` members behind a cursor ('': from the first on).
-- The cursor is "SCORE MEMBER" of the last member seen. If that is gone, the page begins with its
-- score. Returns members and scores in turn, and the next cursor ('': that was the last page).
local function set_page(set, cursor, most)
  local start = 0
  local score, last = string.match(cursor, '^(%d+) (.*)$')
  if score then
    local rank = redis.call('ZRANK', set, last)
    start = rank and rank + 1 or redis.call('ZCOUNT', set, '-inf', '(' .. score)
  end
  local found = redis.call('ZRANGE', set, start, start + most - 1, 'WITHSCORES')
  if #found < 2 * most then
    return found, ''
  end
  return found, cursor_after(found[#found - 1], found[#found])
end
