-- relay_count: tells batches of this queue what notes in another queue's outbox, or its own, say
-- (lib/batch_note.lua). It keeps the names of the notes until they have left that outbox, so that a
-- relay that brings one again counts nothing twice.
-- keys msg ready high low delayed outbox wake meta attempts unique received batches batch_ends
-- includes batch_counts now deferred_removals put_tickets refuse_layout noop_write wake
-- args alone: as of relay_put; the id is that of the batch, the envelope the note
-- Returns a digit for each: 0 counted, or its batch has ended; or '' if the relay's lease is over.

-- include refuse_layout
local now = now_ms()
if now >= tonumber(ARGV[1]) then
  return ''
end
local names = { acked = 1, dead = 1, cancelled = 1, expired = 1, purged = 1, timeout = 1 }
local fresh = {}
for i = 3, #ARGV, 6 do
  local note = ARGV[2] .. '\n' .. ARGV[i + 5]
  if not redis.call('ZSCORE', received, note) then
    for what, number in string.gmatch(ARGV[i + 1], '(%l+) (%d+)') do
      if names[what] then
        batch_count(ARGV[i], what, tonumber(number))
      end
    end
  end
  -- WAIT waits for a write: the new time of the note is one.
  fresh[#fresh + 1] = note
end
-- include noop_write
if write_batches(now) then
  -- The client of this call relays for another queue: a consumer that waits here relays callbacks.
  wake_one()
end
put_tickets(received, now, fresh)
-- Relays that died before relay_forget have left names.
redis.call('ZREMRANGEBYRANK', received, 0, -10001)
run_removals()
return string.rep(DUEQ_OK, #fresh)
