-- relay_take: takes entries of the outbox for one other queue, under a lease of the relay's: all of
-- them messages, or all notes for batches (lib/batch_note.lua). If the queue has a list of targets,
-- a dead letter for a queue outside the list stays, and so does the failure of a chain, unless it
-- is for this queue. A successor goes to any queue: a worker of this queue named it.
-- keys msg outbox dead attempts handover wake meta targets guests
-- includes now ticket outbox_entry deferred_removals outbox_postpone attempts put_tickets
-- includes refuse_newer noop_write queue_name entry_member member_end
-- args alone: how many ms before its time an entry may be taken, at most how many, lease in ms
-- Returns { end of the lease in ms, the other queue's name ('': nothing to take), then for each
--   entry ticket, id, envelope, due, extra, attempts ('': a successor) }.

-- include refuse_newer
-- include noop_write
local now = now_ms()
local stop, name, answer, taken, broken = now + ARGV[3], '', {}, {}, {}
local are_notes
local is_open = redis.call('EXISTS', targets) == 0
local own = queue_name()
local limit = string.format('%d', now + ARGV[1])
for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', limit, 'LIMIT', 0, ARGV[2])) do
  local _, id = ticket_read(ticket)
  local stored = id and redis.call('HGET', msg, id)
  local target, entry_id, envelope, due, extra, had, named =
    outbox_entry_read(id, stored or '')
  local is_note = target and string.byte(envelope) == 0xD4
  if not target then
    defer_removal('ZREM', outbox, ticket)
    broken[#broken + 1] = stored and ticket or nil
    local member = entry_member(stored or '')
    if member and member ~= 'note' then
      member_end(member, 'dead')
    end
  elseif named and target ~= own and not is_open
    and redis.call('SISMEMBER', targets, target) == 0
  then
    local problem = target .. ': the list of targets of this queue does not have it: dueq allow'
    outbox_postpone(ticket, id, problem, now)
    redis.call('HSET', meta, 'outbox_error', problem)
  elseif name == '' or name == target and is_note == are_notes then
    name, are_notes, taken[#taken + 1] = target, is_note, ticket
    for _, word in ipairs({
      ticket, entry_id, envelope, due, extra, had and attempts_write(had) or '',
    }) do
      answer[#answer + 1] = word
    end
  end
end
write_member_ends(now)
put_tickets(dead, now, broken)
put_tickets(outbox, stop, taken)
-- The first entry may be one that is removed below. Then the noted time is early, and a relay looks
-- in vain.
local head = redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')[2]
redis.call('HSET', meta, 'outbox_event', head and string.format('%d', math.ceil(head)) or '')
run_removals()
return { stop, name, unpack(answer) }
