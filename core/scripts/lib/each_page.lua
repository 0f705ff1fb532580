-- defines each_page
-- Calls visit(page) with the members of a sorted set and their scores, at most 1,000 at a time.
local function each_page(set, visit)
  local at = 0
  repeat
    local page = redis.call('ZRANGE', set, at, at + 999, 'WITHSCORES')
    visit(page)
    at = at + 1000
  until #page < 2000
end
