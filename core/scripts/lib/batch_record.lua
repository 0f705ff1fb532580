-- defines batch_read batch_write batch_left batch_is_kept
-- The record of a batch in `batches` and `batch_ends`: a byte 1, the state (0 open, 1 closed, 2
-- ended), six counts of 4 bytes, four times of 6 bytes in ms, and a ticket. The times: when the
-- batch was opened; when it closes, or was closed; when it ended (0: not yet); for how long its
-- record stays after that. The ticket is that of the entry of the outbox which closes the batch.
local batch_form = '>BBI4I4I4I4I4I4I6I6I6I6'

-- Returns a table, or nil: the text is no record.
local function batch_read(text)
  if not text or #text < 50 or string.byte(text) ~= 1 then
    return nil
  end
  local _, state, pushed, acked, dead, cancelled, expired, purged, opened, closes, ended, keep, at =
    struct.unpack(batch_form, text)
  return {
    state = state, pushed = pushed, acked = acked, dead = dead, cancelled = cancelled,
    expired = expired, purged = purged, opened = opened, closes = closes, ended = ended,
    keep = keep, timer = string.sub(text, at),
  }
end

local function batch_write(b)
  return struct.pack(batch_form, 1, b.state, b.pushed, b.acked, b.dead, b.cancelled, b.expired,
    b.purged, b.opened, b.closes, b.ended, b.keep) .. b.timer
end

-- How many of its members have not ended. A damaged record may count more ends than members.
local function batch_left(b)
  return math.max(0, b.pushed - b.acked - b.dead - b.cancelled - b.expired - b.purged)
end

-- Whether the record of a batch that has ended stays.
local function batch_is_kept(b, now)
  return b.ended + b.keep > now
end
