-- relay_take: takes entries of the outbox for one other queue, under a lease of the relay's.
-- keys msg outbox dead attempts meta
-- args alone: how many ms before its time an entry may be taken, how many at most, the lease in ms
-- Returns { end of the lease in ms, the other queue's name ('': there is nothing), then for each entry its ticket, id,
-- envelope, due, extra, attempts ('': a successor) }.

-- include permit
local now = now_ms()
local stop, answer, taken, strays, broken = now + ARGV[3], {}, {}, {}, {}
local name
local limit = string.format('%d', now + ARGV[1])
for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', outbox, '-inf', limit, 'LIMIT', 0, ARGV[2])) do
  local _, id = ticket_read(ticket)
  local stored = id and redis.call('HGET', msg, id)
  if not stored then
    strays[#strays + 1] = ticket
  else
    local target, entry_id, envelope, due, extra, had = entry_read(id, stored)
    if not target then
      broken[#broken + 1], broken[#broken + 2] = string.format('%d', now), ticket
      strays[#strays + 1] = ticket
    elseif not name or name == target then
      name = target
      taken[#taken + 1], taken[#taken + 2] = string.format('%d', stop), ticket
      if had then
        had.forgiven, had.crashes = had.deliveries, 0
      end
      for _, word in ipairs({ ticket, entry_id, envelope, due, extra, had and attempts_write(had) or '' }) do
        answer[#answer + 1] = word
      end
    end
  end
end
if #broken > 0 then
  redis.call('ZADD', dead, unpack(broken))
end
if #taken > 0 then
  redis.call('ZADD', outbox, unpack(taken))
end
local head = redis.call('ZRANGE', outbox, #strays, #strays, 'WITHSCORES')[2]
if #strays > 0 then
  redis.call('ZREM', outbox, unpack(strays))
end
redis.call('HSET', meta, 'outbox_event', head and string.format('%d', math.ceil(head)) or '')
return { stop, name or '', unpack(answer) }
