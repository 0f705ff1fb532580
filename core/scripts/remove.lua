-- remove: removes a queue with all its keys, which the server frees in the background.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine
-- keys rates received timings failures targets groups lines turns limits working parked
-- keys timers rated holds ends kept begun awaited reply
-- includes keep_reply refuse_layout
-- Returns how many messages it had.

-- include refuse_layout
local number = redis.call('HLEN', msg)
redis.call('UNLINK', msg, ready, high, low, delayed, leased, dead, outbox, attempts, handover, meta,
  unique, wake, quarantine, rates, received, timings, failures, targets, groups, lines, turns,
  limits, working, parked, timers, rated, holds, ends, kept, begun, awaited)
return keep_reply(string.format('%d', number))
