-- Reads the policy block of an envelope into `e`; false where it is damaged.
local function policy_read(e, block)
  local at, last = 1, 0
  while at <= #block do
    local field, size = string.byte(block, at, at + 1)
    local value = size and string.sub(block, at + 2, at + 1 + size)
    if not value or field <= last or #value < size then
      return false
    end
    if field == 1 then
      local kind, jitter = string.byte(value, 1, 2)
      local words = (size - 2) / 4
      local right = kind == 1 and words == 1 or (kind == 2 or kind == 3) and words == 2
        or kind == 4 and words >= 1 and words <= 32 and words % 1 == 0
      if not right or jitter > 2 then
        return false
      end
      e.backoff = value
    elseif field == 2 and size == 2 then
      e.max_crashes = struct.unpack('>H', value)
    elseif field == 3 and size == 0 then
      e.drop = true
    elseif field == 4 and is_name(value) then
      e.dead_letter = value
    else
      return false
    end
    last, at = field, at + 2 + size
  end
  return last > 0
end

-- The suffix that the tickets of a sound envelope's message have; nil where they have none.
local function envelope_suffix(envelope)
  local flags = string.byte(envelope, 2)
  local incarnation = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  local suffix = incarnation .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
  return suffix ~= '' and suffix or nil
end

-- Reads an envelope's header (docs/protocol.md): returns a table of max_attempts, max_crashes, and where
-- the envelope has them suffix, expires (ms since 1970), lease (ms), backoff (its bytes), drop, dead_letter;
-- nil where the envelope is damaged.
local function envelope_read(envelope)
  local size = #envelope
  local version, flags = string.byte(envelope, 1, 2)
  if size < 4 or version ~= 0xD1 or flags >= 96 then
    return nil
  end
  local e = { max_attempts = struct.unpack('>H', envelope, 3), max_crashes = 5 }
  local at = 5
  local function take(bytes)
    at = at + bytes
    return at <= size + 1
  end
  if flags % 2 == 1 and not take(10) then
    return nil
  end
  if flags % 16 >= 8 then
    if not take(8) then
      return nil
    end
    e.expires = struct.unpack('>I8', envelope, at - 8)
    if e.expires == 0 or e.expires > 8204889600000 then
      return nil
    end
  end
  if flags % 4 >= 2 then
    if not take(4) then
      return nil
    end
    e.lease = struct.unpack('>I4', envelope, at - 4)
    if e.lease == 0 then
      return nil
    end
  end
  if flags % 8 >= 4 then
    local stop = take(2) and at + struct.unpack('>H', envelope, at - 2)
    if not stop or stop > size + 1 then
      return nil
    end
    while at < stop do
      local value = at + 1 + string.byte(envelope, at)
      local size = value + 1 < stop and struct.unpack('>H', envelope, value)
      if not size or not is_text(string.sub(envelope, at + 1, value - 1)) then
        return nil
      end
      at = value + 2 + size
      if not is_utf8(string.sub(envelope, value + 2, at - 1)) then
        return nil
      end
    end
    if at ~= stop then
      return nil
    end
  end
  if flags % 32 >= 16 then
    local start = take(2) and at
    if not start or not take(struct.unpack('>H', envelope, start - 2)) then
      return nil
    end
    if not policy_read(e, string.sub(envelope, start, at - 1)) then
      return nil
    end
  end
  e.suffix = envelope_suffix(envelope)
  return e
end
