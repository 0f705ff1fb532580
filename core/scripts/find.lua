-- find: looks a message up by its id and changes nothing.
-- keys msg delayed leased dead outbox attempts
-- args alone: id
-- Returns nil, or { now ms, state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), its time in ms, ticket,
-- envelope, attempts ('' where there are none) }.

local id = ARGV[1]
local envelope = redis.call('HGET', msg, id)
if not envelope then
  return nil
end
local text = redis.call('HGET', attempts, id)
local ticket = current_ticket(id, envelope, text)
local state, time = 1, '0'
for i, set in ipairs({ delayed, leased, dead, outbox }) do
  local score = redis.call('ZSCORE', set, ticket)
  if score then
    state, time = i + 1, score
  end
end
return { int(now_ms()), state, int(tonumber(time) or 0), ticket, envelope, text or '' }
