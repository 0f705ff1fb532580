-- defines span; needs call events_due lease leased now
-- Where a lease has ended, or must be watched, a fast reserve passes the call on.
-- From `span` before a lease's end, the queue must be watched: lib/watch.lua.
local span = lease < 8000 and (lease - lease % 2) / 2 or 4000
-- A score is a number as a text. Lua reads it faster as an operand than by tonumber().
local lease_end = events_due and call('ZRANGE', leased, '0', '0', 'WITHSCORES')[2]
local recheck_at = lease_end and lease_end - span
if recheck_at and recheck_at <= now then
  return nil
end
