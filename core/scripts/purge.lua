-- purge: removes messages of one state, from the front, a bounded number at a time. Notes for
-- batches in the outbox stay.
-- keys msg ready high low delayed leased dead outbox attempts handover wake meta reply groups lines
-- keys turns working parked timers ends kept started awaited guests
-- includes ticket message envelope deferred_removals bulk count turns keep_reply held
-- includes refuse_partitioned noop_write wake leaves note_end now
-- includes entry_member member_end
-- args state (1 ready, 2 delayed, 3 leased, 4 dead, 5 outbox), at most how many
-- Returns "REMOVED", or "REMOVED +" if more messages may be there.

-- include held
-- include refuse_partitioned
local set, left = ({ false, delayed, leased, dead, outbox })[tonumber(ARGV[4])], tonumber(ARGV[5])
local seen, met, purged, existing, more = {}, {}, 0, redis.call('HLEN', msg), false
local waiting, now = {}, now_ms()
local function take(tickets)
  for _, ticket in ipairs(tickets) do
    local _, id = ticket_read(ticket)
    local m = id and not seen[id] and find_message(id, {})
    local member = m and set == outbox and entry_member(m.envelope)
    if member ~= 'note' then
      if m and (ticket == m.ticket or not envelope_read(m.envelope)) then
        if member then
          member_end(member, 'purged')
        elseif set ~= dead and set ~= outbox then
          note_end(id, m.envelope, 'purged', m.ticket, '', '')
        end
        defer_forget(id)
        defer_removal('HDEL', handover, id)
        seen[id], purged = true, purged + 1
        waiting[#waiting + 1] = (not set or set == delayed) and ticket or nil
      end
      if set then
        defer_removal('ZREM', set, ticket)
      end
    end
  end
  left = left - #tickets
  return #tickets
end
if set then
  local tickets = redis.call('ZRANGE', set, 0, left - 1)
  take(tickets)
  leaves(set == leased and tickets or {})
  leaves(waiting, true)
else
  for _, lane in ipairs({ high, ready, low }) do
    met[lane] = left > 0 and take(redis.call('LRANGE', lane, 0, left - 1)) or 0
  end
  leaves(waiting, true)
  local state = redis.call('HMGET', meta, 'turns', 'returned')
  if state[1] then
    -- The groups that are at a limit come back to the turns.
    local away = left > 0 and redis.call('ZRANGE', parked, 0, 199, 'WITHSCORES') or {}
    local keeps = redis.call('ZCARD', parked) > 200
    if #away > 0 then
      -- include noop_write
    end
    for i = 1, #away, 2 do
      defer_removal('ZREM', parked, away[i])
      away[i], away[i + 1] = away[i + 1], away[i]
    end
    if #away > 0 then
      redis.call('ZADD', turns, 'NX', unpack(away))
    end
    turns_begin(state[1], true)
    local ticket = left > 0 and turn_take(100)
    while ticket do
      take({ ticket })
      ticket = left > 0 and turn_take(100)
    end
    -- Perhaps groups are left of which nothing waits, and behind them groups with messages.
    more = keeps or left > 0 and turns_left() > 0
    local returned = math.max(0, (tonumber(state[2] or '') or 0) - met[ready])
    local fields = { 'returned', string.format('%d', returned) }
    turns_meta(fields, keeps)
    -- include noop_write
    bulk('HSET', meta, fields)
    write_turns()
  end
end
if noted_ends[1] or set == outbox then
  -- include noop_write
end
local came = write_left()
local out = write_ends(now)
out = write_member_ends(now) or out
run_removals()
remove_turns()
for lane, number in pairs(met) do
  if number > 0 then
    redis.call('LTRIM', lane, number, -1)
  end
end
if (held and set == leased or came > 0) and purged > 0 then
  wake_one(purged > 1)
end
if out then
  -- The client of this call relays nothing: a consumer that waits does.
  wake_one()
elseif purged == existing then
  -- No message is left, so nobody needs to be woken, and an empty queue keeps no token.
  redis.pcall('ZREM', wake, 'w', 'x', 't')
end
count('ready_offset', met[ready] or 0)
count('purged', purged)
-- Notes that stay are not behind others for long.
more = more or left == 0 and (set ~= outbox or purged > 0)
return keep_reply(string.format('%d', purged) .. (more and ' +' or ''))
