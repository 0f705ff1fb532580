-- noted: after a lost connection, tells what a call of another system's queue answered if it was run.
-- KEYS[1] calls  HASH  session -> its last call and answer
-- ARGV    session, call number
-- Returns nil if the call was not run, else its answer. It changes nothing.
local calls = KEYS[1]

local number, answer = string.match(redis.call('HGET', calls, ARGV[1]) or '', '^(%d+) (.*)$')
if number ~= ARGV[2] then
  return nil
end
return cmsgpack.unpack(answer)
