-- defines begun_page begun_ticket; needs attempts begun dead msg outbox; includes attempts ticket
-- Reads `begun` (lib/begun_member.lua).

-- The members of a group, at most `size` from index `from` on.
local function begun_page(name, from, size)
  return redis.call('ZRANGE', begun, '[' .. name .. '\t', '(' .. name .. '\n', 'BYLEX', 'LIMIT',
    string.format('%d', from), string.format('%d', size))
end

-- The current ticket of a begun message that is not leased, and its id. Such a message came back,
-- so it has attempts. nil: it has ended.
local function begun_ticket(member)
  local name, own, id = string.match(member, '^([^\t]+)\t(!?%w*):(.+)$')
  local had = id and attempts_read(redis.call('HGET', attempts, id)) or {}
  if not id or had.suffix ~= own .. '=' .. name then
    return nil
  end
  local ticket = ticket_write(had.deliveries, id, had.suffix)
  local has_ended = redis.call('ZSCORE', dead, ticket) or redis.call('ZSCORE', outbox, ticket)
    or redis.call('HEXISTS', msg, id) == 0
  if not has_ended then
    return ticket, id
  end
end
