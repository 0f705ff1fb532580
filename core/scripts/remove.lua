-- remove: removes a queue with all its keys, which the server frees in the background. A queue with
-- open batches, or with members of other queues' batches, is removed only by force. Then the other
-- queues' batches count these members as dead: the notes for them stay in the outbox.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine
-- keys rates received timings failures targets groups lines turns limits working parked
-- keys timers rated holds ends kept begun awaited batches batch_ends guests reply
-- includes keep_reply refuse_layout batch_note now outbox_put
-- args '1': by force
-- Returns how many messages it had, and ' r' if a relay has work; or an error, INVALID: it has
--   batches or members.

-- include refuse_layout
local number, open, found = redis.call('HLEN', msg), redis.pcall('HLEN', batches), nil
found = redis.pcall('HGETALL', guests)
if ARGV[4] ~= '1' and (type(open) == 'number' and open > 0 or #found > 0) then
  return redis.error_reply(string.format(
    "INVALID the queue '%s' has %s: remove it by force, or wait until the batches have ended",
    string.match(meta, '^dueq:{(.*)}:meta$'),
    #found > 0 and "members of other queues' batches" or 'batches that have not ended'))
end
redis.call('UNLINK', msg, ready, high, low, delayed, leased, dead, outbox, attempts, handover, meta,
  unique, wake, quarantine, rates, received, timings, failures, targets, groups, lines, turns,
  limits, working, parked, timers, rated, holds, ends, kept, begun, awaited, batches, batch_ends,
  guests)
for i = 1, #found, 2 do
  local now, home, id = now_ms(), string.match(found[i], '^(.*)\n(.*)$')
  if id then
    local ticket = string.format('%013d%09d', now, 900000000 + i)
    outbox_put(ticket, now)
    redis.call('HSET', msg, ticket, batch_note(home, id, 'dead ' .. found[i + 1], now))
  end
end
return keep_reply(string.format('%d', number) .. (#found > 0 and ' r' or ''))
