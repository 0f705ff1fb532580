-- Is the ticket's lease not over yet? A lease ends at its time, also before a reserve moves the message.
local function held(leased, ticket, now)
  local stop = redis.call('ZSCORE', leased, ticket)
  return stop and tonumber(stop) > now
end
