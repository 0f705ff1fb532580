-- defines wake_at; needs wake
-- Sets the wake token "t", whose score is the time of the next event. The consumer that takes it
-- keeps that time without asking. Until that consumer asks, '-' stands for its session in the
-- timekeepers (lib/timekeeper.lua), once at most, in front of up to two others. event: the time as
-- a text. Returns the timekeepers.
local function wake_at(event, timekeepers)
  redis.pcall('ZADD', wake, event, 't')
  local others = string.gsub(timekeepers, '%d+:%- ?', '')
  others = string.match(others, '^%d+:%w+ %d+:%w+') or string.match(others, '^%d+:%w+')
  return event .. ':-' .. (others and ' ' .. others or '') .. ' +'
end
