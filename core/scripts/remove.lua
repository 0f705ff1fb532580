-- remove: removes a queue with all its keys, which the server frees in the background. A queue with
-- open batches, or with members of other queues' batches, is removed only by force. Then the other
-- queues' batches count these members as dead: the notes for them stay in the outbox. So do notes
-- for other queues' batches that are there already: those members count as they ended.
-- keys msg ready high low delayed leased dead outbox attempts handover meta unique wake quarantine
-- keys rates received timings failures targets groups lines turns limits working parked
-- keys timers rated holds ends kept started awaited begun batches batch_ends guests reply
-- keys served_even served_odd
-- includes keep_reply refuse_layout batch_note note_home now outbox_put bulk queue_name
-- args '0'; another number: by force; 2: the same, of a partition, and all other partitions of the
--   queue go, too; -1: as 0, but it only tells whether it would refuse
-- Returns how many messages it had, and ' r' if a relay has work; or an error, INVALID: it has
--   batches or members, or too many messages beside members or notes.

-- include refuse_layout
local number, name = redis.call('HLEN', msg), queue_name()
local whole, force = string.match(name, '^(.*)#%d+$'), ARGV[4] ~= '0' and ARGV[4] ~= '-1'
-- Whether a batch's home stays.
local function stays(home)
  return home ~= name
    and (ARGV[4] ~= '2' or not whole or string.match(home, '^(.*)#%d+$') ~= whole)
end
local open, all, found = redis.pcall('HLEN', batches), redis.pcall('HGETALL', guests), { nil }
for i = 1, #all, 2 do
  if stays(string.match(all[i], '^(.*)\n') or '') then
    found[#found + 1], found[#found + 2] = all[i], all[i + 1]
  end
end
local problem = #found > 0 and "members of other queues' batches"
  or type(open) == 'number' and open > 0 and 'batches that have not ended'
if problem and not force then
  return redis.error_reply(string.format("INVALID the queue '%s' has %s: remove it by force, or "
    .. 'wait until the batches have ended', name, problem))
end
-- The tickets of notes are their ids.
local notes, entries = {}, {}
if type(redis.pcall('HGET', meta, 'notes')) == 'string' then
  entries = redis.pcall('ZRANGE', outbox, '0', '1000')
end
for i, stored in ipairs(#entries > 0 and redis.call('HMGET', msg, unpack(entries)) or {}) do
  local home = note_home(stored or '')
  if home and stays(home) then
    notes[#notes + 1], notes[entries[i]] = entries[i], true
  end
end
local keys = { ready, high, low, delayed, leased, dead, attempts, handover, unique, wake,
  quarantine, rates, received, timings, failures, targets, groups, lines, turns, limits, working,
  parked, timers, rated, holds, ends, kept, started, awaited, begun, batch_ends, guests,
  served_even, served_odd }
local is_plain = #found == 0 and #notes == 0 and #entries <= 1000
if not is_plain and number > 1000 then
  return redis.error_reply(string.format("INVALID the queue '%s' has %s, and more than 1000 "
    .. 'messages: purge them first', name, "members of other queues' batches, or notes for them"))
elseif ARGV[4] == '-1' then
  return keep_reply(string.format('%d', number))
elseif is_plain then
  redis.call('UNLINK', msg, outbox, meta, batches, unpack(keys))
  return keep_reply(string.format('%d', number))
end
-- The notes need these three keys: what is added comes first, so that none becomes empty.
local ids, fields, now = redis.call('HKEYS', msg), redis.call('HKEYS', meta), now_ms()
for i = #ids, 1, -1 do
  if notes[ids[i]] then
    table.remove(ids, i)
  end
end
for _, ticket in ipairs(notes) do
  outbox_put(ticket, 0)
end
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
-- A second call finds the notes by this field.
redis.call('HSETNX', meta, 'notes', '0')
for i = #fields, 1, -1 do
  if fields[i] == 'outbox_event' or fields[i] == 'next_event' or fields[i] == 'notes' then
    table.remove(fields, i)
  end
end
bulk('HDEL', meta, fields)
return keep_reply(string.format('%d r', number - #notes))
