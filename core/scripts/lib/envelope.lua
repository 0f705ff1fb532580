-- Reads an envelope's header (docs/protocol.md): returns max_attempts, stamp (nil without one) and
-- lease in ms (nil without one); nil where the envelope is damaged.
local function envelope_read(envelope)
  local size = #envelope
  if size < 4 or string.byte(envelope, 1) ~= 0xD1 then
    return nil
  end
  local flags = string.byte(envelope, 2)
  local max_attempts = struct.unpack('>H', envelope, 3)
  local at, stamp, lease = 5, nil, nil
  if flags >= 8 then
    return nil
  end
  if flags % 2 == 1 then
    if size < at + 9 then
      return nil
    end
    stamp = string.sub(envelope, at, at + 9)
    at = at + 10
  end
  if flags % 4 >= 2 then
    if size < at + 3 then
      return nil
    end
    lease = struct.unpack('>I4', envelope, at)
    at = at + 4
    if lease == 0 then
      return nil
    end
  end
  if flags >= 4 then
    if size < at + 1 then
      return nil
    end
    local stop = at + 2 + struct.unpack('>H', envelope, at)
    at = at + 2
    if stop > size + 1 then
      return nil
    end
    while at < stop do
      at = at + 1 + string.byte(envelope, at)
      if at + 1 >= stop then
        return nil
      end
      at = at + 2 + struct.unpack('>H', envelope, at)
    end
    if at ~= stop then
      return nil
    end
  end
  return max_attempts, stamp, lease
end
