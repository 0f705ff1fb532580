-- Keeps what this call answered, and returns it. Scripts whose every instruction counts include lib/keep.lua themselves.
local function done(answer)
  -- include keep
  return answer
end
