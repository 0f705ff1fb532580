-- recall_foreign: after a lost connection, finds what a call on another system's queue answered.
-- keys reply
-- ARGV    number of the call
-- Returns the call's answer, or nil if the call was not run. Changes nothing.
local number, answer = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
if number ~= ARGV[1] then
  return nil
end
return cmsgpack.unpack(answer)
