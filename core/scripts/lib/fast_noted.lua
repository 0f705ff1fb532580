-- defines batch flags keep; needs byte envelope sub
-- Reads the envelope of a message whose end is noted, as lib/envelope.lua does. keep: for how many
-- ms the end is kept; batch: the batch, of this queue, that counts the end; each may be nil. The
-- script passes the call on if the envelope has anything but these two, an incarnation and headers,
-- or if it may be damaged. Texts that are not ASCII count as such.
local version, flags = byte(envelope, 1, 2)
-- 1 incarnation, 4 headers, 16 policy.
if version ~= 0xD3 or not flags or flags < 16 or flags > 21 or flags % 4 > 1 then
  return nil
end
local at, keep, batch = flags % 2 == 1 and 15 or 5, nil, nil
local high, low = byte(envelope, at, at + 1)
if flags > 19 then
  local stop = low and at + 2 + 256 * high + low or 0
  at = at + 2
  while at < stop do
    local _, last = string.find(envelope, '^[ -~]+', at + 1)
    local size = byte(envelope, at) or 0
    high, low = byte(envelope, at + 1 + size, at + 2 + size)
    if size == 0 or not last or last < at + size or not low then
      return nil
    end
    local value_at = at + 3 + size
    at = value_at + 256 * high + low
    if string.find(sub(envelope, value_at, at - 1), '[\128-\255]') then
      return nil
    end
  end
  if at ~= stop then
    return nil
  end
  high, low = byte(envelope, at, at + 1)
end
local stop = low and at + 2 + 256 * high + low or 0
at = at + 2
if stop <= at or stop > #envelope + 1 then
  return nil
end
local field, size = byte(envelope, at, at + 1)
if field == 5 and size == 4 and at + 6 <= stop then
  keep = struct.unpack('>I4', envelope, at + 2)
  at = at + 6
  field, size = byte(envelope, at, at + 1)
end
if at < stop and field == 6 and size then
  batch = sub(envelope, at + 2, at + 1 + size)
  at = at + 2 + size
end
if at ~= stop or keep == 0 or batch == '' or batch and string.find(batch, '[^ -~]') then
  return nil
end
