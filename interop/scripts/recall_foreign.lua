-- recall_foreign: after a lost connection, tells what a call of another system's queue answered if it was run.
-- keys reply
-- ARGV    number of the call
-- Returns nil if the call was not run, else its answer. It changes nothing.
local number, answer = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
if number ~= ARGV[1] then
  return nil
end
return cmsgpack.unpack(answer)
