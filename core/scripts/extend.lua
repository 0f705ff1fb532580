-- extend: sets new ends of leases.
-- keys leased wake meta reply
-- includes verify_leases now watch put_tickets note_event keep_reply refuse_newer noop_write
-- args lease in ms from now, tickets
-- Returns a digit for each: 0 done, 4 the lease is lost.

local outcome, tickets = verify_leases(5, #ARGV)
local problem = not outcome and tickets
if problem then
  -- include refuse_newer
  return problem
end
-- include noop_write
local now, span = now_ms(), watch_ms(tonumber(ARGV[4]))
put_tickets(leased, now + ARGV[4], tickets)
if #tickets > 0 then
  note_watch(redis.pcall('HGET', meta, 'watched'), span, now)
  note_event(now + ARGV[4] - span, now)
end
return keep_reply(outcome)
