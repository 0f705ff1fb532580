-- defines envelope_read; includes text is_name envelope_suffix
-- Reads envelopes (protocol.md). The reader is a table: bytes; at: its place in them; sound:
-- whether all that it has read is sound.
-- The functions that only the reader needs are in a block: a script has room for 200 local names.
local envelope_read
do
  -- Takes the next bytes. If there are not so many, the envelope is not sound.
  local function next_bytes(e, size)
    e.at = e.at + size
    e.sound = e.sound and e.at <= #e.bytes + 1
    return string.sub(e.bytes, e.at - size, e.at - 1)
  end

  -- Takes a number. If it is not in its range, the envelope is not sound.
  local function next_number(e, form, size, least, most)
    local at = e.at
    e.at = at + size
    local number = e.at <= #e.bytes + 1 and struct.unpack(form, e.bytes, at) or 0
    e.sound = e.sound and e.at <= #e.bytes + 1 and number >= least and number <= most
    return number
  end

  local function next_headers(e)
    local size = next_number(e, '>H', 2, 0, 65535)
    local stop = e.at + size
    while e.sound and e.at < stop do
      local name = next_bytes(e, next_number(e, '>B', 1, 1, 255))
      local value = next_bytes(e, next_number(e, '>H', 2, 0, 65535))
      e.sound = e.sound and is_text(name) and is_utf8(value)
    end
    e.sound = e.sound and e.at == stop
  end

  local function is_backoff(value)
    local kind, jitter = string.byte(value, 1, 2)
    local words = (#value - 2) / 4
    return words >= 1 and words <= 32 and words % 1 == 0 and jitter <= 2
      and (kind == 4 or words == ({ 1, 2, 2 })[kind])
  end

  local function next_policy(e)
    local size = next_number(e, '>H', 2, 1, 65535)
    local stop, last = e.at + size, 0
    while e.sound and e.at < stop do
      local at, field = e.at, next_number(e, '>B', 1, last + 1, 8)
      local value = next_bytes(e, next_number(e, '>B', 1, 0, 255))
      if field == 1 then
        e.backoff = is_backoff(value) and value
      elseif field == 2 then
        e.max_crashes = #value == 2 and struct.unpack('>H', value)
      elseif field == 3 then
        e.drop = value == ''
      elseif field == 4 then
        e.dead_letter = is_name(value) and value
      elseif field == 5 then
        e.keep = #value == 4 and struct.unpack('>I4', value)
      elseif field == 6 then
        e.batch, e.batch_at = is_text(value) and value, at
      elseif field == 7 then
        e.counted = not e.batch and is_text(value)
      else
        e.batch_queue = (e.batch or e.counted) and is_name(value) and value
      end
      e.sound = e.sound and e[({
        'backoff', 'max_crashes', 'drop', 'dead_letter', 'keep', 'batch', 'counted', 'batch_queue',
      })[field]]
      last = field
    end
    e.sound = e.sound and e.at == stop
  end

  -- Reads an envelope up to its body. Returns nil if it is corrupt, else a table: max_attempts,
  -- max_crashes, headers (where they begin, or would), at (where the body begins), and, if the
  -- envelope has them, suffix, expires (ms since 1970), lease (ms), group, backoff (its bytes),
  -- drop, dead_letter, keep (ms), batch (that counts its end) and batch_at (where that field
  -- begins), or counted (the batch has counted its end), and batch_queue (the batch's queue; nil:
  -- its own).
  function envelope_read(envelope)
    local version, flags = string.byte(envelope, 1, 2)
    -- 32 is a high priority, 64 a low one, 128 a group. A message has one of the three, or none.
    if #envelope < 4 or version ~= 0xD1 and version ~= 0xD3
      or flags >= 96 and (flags < 128 or flags >= 160) then
      return nil
    end
    local e = {
      bytes = envelope, at = 3, sound = true, max_crashes = DUEQ_DEFAULT_CRASHES,
      suffix = envelope_suffix(envelope),
    }
    e.max_attempts = next_number(e, '>H', 2, 0, 65535)
    if flags % 2 == 1 then
      next_bytes(e, 10)
    end
    if flags % 16 >= 8 then
      e.expires = next_number(e, '>I8', 8, 1, 8204889600000)
    end
    if flags % 4 >= 2 then
      e.lease = next_number(e, '>I4', 4, 1, 4294967295)
    end
    if flags >= 128 then
      e.group = next_bytes(e, next_number(e, '>B', 1, 1, 128))
      e.sound = e.sound and is_text(e.group)
    end
    e.headers = e.at
    if flags % 8 >= 4 then
      next_headers(e)
    end
    if flags % 32 >= 16 then
      next_policy(e)
    end
    local is_noted = (e.keep or e.batch or e.counted) ~= nil
    return e.sound and (version == 0xD3) == is_noted and e.keep ~= 0 and e or nil
  end
end
