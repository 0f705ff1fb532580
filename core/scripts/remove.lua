-- remove: takes a queue away, with all that it has; the server frees it on the side.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine rates received timings failures reply
-- Returns how many messages it had.

-- include known
local number = redis.call('HLEN', msg)
redis.call('UNLINK', msg, ready, high, low, delayed, leased, dead, outbox, attempts, handover, meta, unique, wake,
  quarantine, rates, received, timings, failures)
return done(string.format('%d', number))
