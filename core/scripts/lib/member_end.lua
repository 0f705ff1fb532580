-- defines member_end write_member_ends; needs guests meta msg
-- includes batch_note deferred_removals outbox_put queue_name
-- The ends of members of batches, by batch: a script calls member_end() for each, and
-- write_member_ends() before it removes. A note in the outbox tells the batch. `guests` has of each
-- batch of another queue how many members are here, by its queue, a newline and its id.
local member_ends, guest_ends = {}, {}

-- e: the member's envelope as a table. count_here: of a script that has the batches of this queue
-- (lib/batch_counts.lua). Returns the envelope that a dead member has from now on: its batch does
-- not count a later end.
local function member_end(e, outcome, count_here)
  outcome = outcome == 'replaced' and 'cancelled' or outcome
  local home = e.batch_queue or ''
  if home == '' and count_here then
    count_here(e.batch, outcome, 1)
  else
    local key = home .. '\n' .. e.batch .. '\n' .. outcome
    member_ends[key] = (member_ends[key] or 0) + 1
    local guest = home ~= '' and home .. '\n' .. e.batch
    if guest then
      guest_ends[guest] = (guest_ends[guest] or 0) + 1
    end
  end
  return string.sub(e.bytes, 1, e.batch_at - 1) .. '\7' .. string.sub(e.bytes, e.batch_at + 1)
end

-- Returns whether a relay has work.
local function write_member_ends(now)
  local out = false
  for key, number in pairs(member_ends) do
    local home, id, outcome = string.match(key, '^(.*)\n(.*)\n(.*)$')
    home = home ~= '' and home or queue_name()
    -- The time and a number make an id that no client makes before the year 3084.
    local last = redis.call('HINCRBY', meta, 'notes', '1')
    local ticket = string.format('%013d%09d', now, last % 1000000000)
    outbox_put(ticket, now)
    redis.call('HSET', msg, ticket,
      batch_note(home, id, string.format('%s %d', outcome, number), now))
    out = true
  end
  for guest, number in pairs(guest_ends) do
    local left = (tonumber(redis.pcall('HMGET', guests, guest)[1] or '') or 0) - number
    if left > 0 then
      redis.pcall('HSET', guests, guest, string.format('%d', left))
    else
      defer_removal('HDEL', guests, guest)
    end
  end
  member_ends, guest_ends = {}, {}
  return out
end
