-- remove: removes a queue with all its keys, which the server frees in the background. A queue with
-- open batches, or with members of other queues' batches, is removed only by force. Then the other
-- queues' batches count these members as dead: the notes for them stay in the outbox.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine
-- keys rates received timings failures targets groups lines turns limits working parked
-- keys timers rated holds ends kept started awaited begun batches batch_ends guests reply
-- includes keep_reply refuse_layout batch_note now outbox_put bulk
-- args '0'; another number: by force; 2: the same, of a partition, and all other partitions of the
--   queue go, too; -1: as 0, but it only tells whether it would refuse
-- Returns how many messages it had, and ' r' if a relay has work; or an error, INVALID: it has
--   batches or members, or too many messages beside members.

-- include refuse_layout
local number, name = redis.call('HLEN', msg), string.match(meta, '^dueq:{(.*)}:meta$')
local whole, force = string.match(name, '^(.*)#%d+$'), ARGV[4] ~= '0' and ARGV[4] ~= '-1'
local open, all, found = redis.pcall('HLEN', batches), redis.pcall('HGETALL', guests), { nil }
for i = 1, #all, 2 do
  local home = string.match(all[i], '^(.*)#%d+\n')
  if ARGV[4] ~= '2' or not whole or home ~= whole then
    found[#found + 1], found[#found + 2] = all[i], all[i + 1]
  end
end
local problem = #found > 0 and "members of other queues' batches"
  or type(open) == 'number' and open > 0 and 'batches that have not ended'
if problem and not force then
  return redis.error_reply(string.format("INVALID the queue '%s' has %s: remove it by force, or "
    .. 'wait until the batches have ended', name, problem))
end
local keys = { ready, high, low, delayed, leased, dead, attempts, handover, unique, wake,
  quarantine, rates, received, timings, failures, targets, groups, lines, turns, limits, working,
  parked, timers, rated, holds, ends, kept, started, awaited, begun, batch_ends, guests }
if ARGV[4] == '-1' then
  return keep_reply(string.format('%d', number))
elseif #found == 0 then
  redis.call('UNLINK', msg, outbox, meta, batches, unpack(keys))
  return keep_reply(string.format('%d', number))
elseif number > 1000 then
  return redis.error_reply(string.format("INVALID the queue '%s' has %s, and more than 1000 "
    .. 'messages: purge them first', name, problem))
end
-- The notes need these three keys: what is added comes first, so that none becomes empty.
local ids, fields, now = redis.call('HKEYS', msg), redis.call('HKEYS', meta), now_ms()
for i = 1, #found, 2 do
  local home, id = string.match(found[i], '^(.*)\n(.*)$')
  if id then
    local ticket = string.format('%013d%09d', now, 900000000 + i)
    outbox_put(ticket, 0)
    redis.call('HSET', msg, ticket, batch_note(home, id, 'dead ' .. found[i + 1], now))
  end
end
bulk('HDEL', msg, ids)
redis.call('ZREMRANGEBYSCORE', outbox, '(0', '+inf')
redis.call('UNLINK', batches, unpack(keys))
redis.call('HSET', meta, 'outbox_event', '0', 'next_event', '0')
for i = #fields, 1, -1 do
  if fields[i] == 'outbox_event' or fields[i] == 'next_event' then
    table.remove(fields, i)
  end
end
bulk('HDEL', meta, fields)
return keep_reply(string.format('%d r', number))
