-- relay_done: removes from the outbox what a relay has pushed. If the other queue refused a
-- message, because it has one of the same id, the message is dead here; a successor is dropped. If
-- it is a member of a batch, the batch counts it as cancelled.
-- What could not be pushed stays, and is due again after 1 s to 5 minutes.
-- keys msg outbox dead attempts handover wake meta guests
-- includes now ticket outbox_postpone deferred_removals put_tickets refuse_newer noop_write
-- includes entry_member member_end
-- args alone: when the relay's lease ends in ms, the other queue's name, error ('': none), then
--   ticket and digit (as of relay_put) of each
-- Returns how many left the outbox.

-- include refuse_newer
-- include noop_write
local now, left = now_ms(), 0
local problem = ARGV[3] ~= '' and ARGV[2] .. ': ' .. ARGV[3] or ''
for i = 4, #ARGV, 2 do
  local ticket = ARGV[i]
  local _, id = ticket_read(ticket)
  -- If this relay took too long, another relay has the entry now.
  local ours = id and redis.call('ZSCORE', outbox, ticket) == ARGV[1]
  local stored = ours and redis.call('HGET', msg, id)
  if stored and problem ~= '' then
    outbox_postpone(ticket, id, problem, now)
  elseif ours then
    left = left + 1
    defer_removal('HDEL', handover, id)
    defer_removal('ZREM', outbox, ticket)
    if tonumber(ARGV[i + 1]) == DUEQ_DUPLICATE and stored and string.byte(stored) ~= 0xD2 then
      put_tickets(dead, now, { ticket })
    else
      local member = tonumber(ARGV[i + 1]) == DUEQ_DUPLICATE and entry_member(stored or '')
      if member and member ~= 'note' then
        member_end(member, 'cancelled')
      end
      defer_forget(id)
    end
  end
end
local rest = redis.call('ZCARD', outbox) - left
-- As long as other entries stay with an error, a success does not hide the reason.
if problem ~= '' or rest == 0 or redis.call('HLEN', handover) == 0 then
  redis.call('HSET', meta, 'outbox_error', problem)
end
if rest == 0 then
  redis.call('HSET', meta, 'outbox_event', '')
end
write_member_ends(now)
run_removals()
return left
