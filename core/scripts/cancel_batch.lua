-- cancel_batch: cancels the members of a batch that are ready or delayed in this queue, a page of
-- the queue's messages at a time. The ticket of a ready one stays in its lane, as of cancel_full.
-- keys msg ready high low delayed leased dead outbox wake meta attempts unique reply
-- keys ends kept started awaited guests batches batch_ends turns working parked timers
-- includes message envelope deferred_removals count keep_reply refuse_layout noop_write note_end
-- includes batch_counts now leaves wake
-- args the batch; the name of its queue ('': this one, or that of which this is a partition);
--   cursor ('': the first page); about how many messages to look at
-- Returns "CANCELLED CURSOR": how many members were cancelled, and the next cursor ('': that was
--   the last page).

-- include refuse_layout
local now, cancelled, seen, waiting = now_ms(), 0, {}, {}
-- The home may be a partition of the queue that is named.
local whole = ARGV[5] ~= '' and ARGV[5] or string.match(msg, '^dueq:{(.*)#%d+}:msg$')
local function is_named(home)
  return home == ARGV[5] or whole and string.match(home, '^(.*)#%d+$') == whole
end
local page = redis.call('HSCAN', msg, ARGV[6] == '' and '0' or ARGV[6], 'COUNT', ARGV[7])
for i = 1, #page[2], 2 do
  local id, stored = page[2][i], page[2][i + 1]
  local e = string.byte(stored) == 0xD3 and not seen[id] and envelope_read(stored)
  seen[id] = true
  if e and e.batch == ARGV[4] and is_named(e.batch_queue or '') then
    local m = find_message(id, { delayed, leased, dead, outbox })
    if (m.place or 0) < 2 then
      note_end(id, stored, 'cancelled', m.ticket, '', '')
      defer_forget(id)
      cancelled, waiting[#waiting + 1] = cancelled + 1, m.ticket
    end
    if m.place == 1 then
      defer_removal('ZREM', delayed, m.ticket)
    end
  end
end
leaves(waiting, true)
-- include noop_write
local out = write_ends(now, batch_count)
out = write_batches(now) or out
if write_left() > 0 or out then
  -- The client of this call relays nothing: a consumer that waits does.
  wake_one()
end
run_removals()
count('cancelled', cancelled)
return keep_reply(string.format('%d ', cancelled) .. (page[1] ~= '0' and page[1] or ''))
