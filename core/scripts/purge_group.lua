-- purge_group: removes the delayed and the ready messages of one group, a page at a time. Leased
-- ones stay.
-- keys msg ready delayed outbox wake attempts meta reply groups lines turns parked
-- keys ends kept started awaited guests
-- includes ticket message envelope deferred_removals count group_mark group_line set_page
-- includes keep_reply refuse_layout noop_write wake note_end now
-- args the group's name as in tickets, cursor ('': the first page), how many tickets to look at at
--   most
-- Returns "PURGED CURSOR": how many messages went, and the next cursor ('': that was the last).
--   First come the tickets of `delayed`, then those of `ready` that no script has sorted yet, then
--   the line of the group: a message moves this way only. `ready` is read from its end, so that a
--   page misses nothing when a reserve sorts tickets at the front. A ticket in `ready` stays there,
--   as of a cancelled message. A cursor is one of lib/set_page.lua; "ready" and how many tickets of
--   the end were read; or "line".

-- include refuse_layout
local name, cursor, left = ARGV[4], ARGV[5], tonumber(ARGV[6])
local following, seen, purged, was_begun = '', {}, 0, false

-- Looks at a ticket. Returns whether it is one of the group.
local function take(ticket)
  local _, id, suffix = ticket_read(ticket)
  left = left - 1
  if not id or group_of(suffix) ~= name then
    return false
  end
  was_begun = was_begun or string.byte(ticket) ~= 48
  local m = not seen[id] and find_message(id, {})
  if m and (ticket == m.ticket or not envelope_read(m.envelope)) then
    note_end(id, m.envelope, 'purged', m.ticket, '', '')
    defer_forget(id)
    seen[id], purged = true, purged + 1
  end
  return true
end

local place = tonumber(string.match(cursor, '^ready (%d+)$'))
if not place and cursor ~= 'line' then
  local found
  found, following = set_page(delayed, cursor, left)
  for i = 1, #found, 2 do
    if take(found[i]) then
      defer_removal('ZREM', delayed, found[i])
    end
  end
  place = following == '' and 0 or nil
end
if place and left > 0 then
  local size = left
  local tickets = redis.call('LRANGE', ready, -place - size, -place - 1)
  for _, ticket in ipairs(tickets) do
    take(ticket)
  end
  following = #tickets == size and string.format('ready %d', place + size) or ''
elseif place then
  following = 'ready 0'
end
local line
if following == '' then
  line = mark_read(redis.call('HGET', groups, name) or '', name)
  local ticket
  if line then
    ticket = left > 0 and line_take(line)
    while ticket do
      take(ticket)
      ticket = left > 0 and line_take(line)
    end
    following = line_is_empty(line) and '' or 'line'
  end
end
-- include noop_write
-- An empty line stays in `turns`, as when its last message was delivered. One in `parked` comes
-- back to `turns`. So does a line that perhaps waited for a message that this page removes, as that
-- was delivered before (lib/strict_order.lua).
local is_emptied = line and line.changed and following == ''
local time = (is_emptied or was_begun) and redis.call('ZSCORE', parked, name)
if time then
  redis.call('ZADD', turns, 'NX', time, name)
  defer_removal('ZREM', parked, name)
  if not is_emptied then
    wake_one()
  end
end
if line and line.changed then
  redis.call('HSET', groups, name, mark_write(line))
end
if noted_ends[1] then
  local now = now_ms()
  if write_ends(now) then
    -- The client of this call relays nothing: a consumer that waits does.
    wake_one()
  end
end
run_removals()
remove_segments()
count('purged', purged)
return keep_reply(string.format('%d ', purged) .. following)
