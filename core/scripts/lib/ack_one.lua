-- needs leased meta msg; includes return_problem now keep_reply_inline
-- The body of ack and ack_group.
local ticket, answer = ARGV[4], '4'
local left = redis.pcall('ZREM', leased, ticket)
if left == 1 then
  local mark = string.find(ticket, ':', 1, true)
  local id = mark and string.sub(ticket, mark + 1) or ticket
  local removed = redis.pcall('HDEL', msg, id)
  if type(removed) == 'table' then
    -- `msg` has another type: the message stays leased.
    redis.call('ZADD', leased, string.format('%d', now_ms() + DUEQ_DEFAULT_LEASE_MS), ticket)
    return removed
  end
  redis.pcall('HINCRBY', meta, 'acked', '1')
  answer = '0'
elseif left ~= 0 then
  local problem = left
  -- include return_problem
end
-- include keep_reply_inline
return answer
