-- defines damaged_member; includes is_name text
-- What a damaged envelope of a noted end still says of a batch. The headers, for example, may be no
-- UTF-8. A ticket does not name the batch, so without this the batch would wait for this member.
-- Returns nil, or a table as of envelope_read() with bytes, batch, batch_at and batch_queue only.
local function damaged_member(bytes)
  local function number(form, at)
    return #bytes >= at + (form == '>H' and 1 or 0) and struct.unpack(form, bytes, at) or 0
  end
  local flags, e = number('>B', 2), { bytes = bytes }
  if string.byte(bytes) ~= 0xD3 or flags % 32 < 16 then
    return nil
  end
  -- The incarnation, the end of the time to live, the lease, the group and the headers.
  local at = 5 + flags % 2 * 10 + (flags % 16 >= 8 and 8 or 0) + (flags % 4 >= 2 and 4 or 0)
  at = flags >= 128 and at + 1 + number('>B', at) or at
  at = flags % 8 >= 4 and at + 2 + number('>H', at) or at
  local stop = at + 2 + number('>H', at)
  at = at + 2
  while at < stop and stop <= #bytes + 1 do
    local field, value = number('>B', at), string.sub(bytes, at + 2, at + 1 + number('>B', at + 1))
    if field == 6 then
      e.batch, e.batch_at = value, at
    elseif field == 8 then
      e.batch_queue = value
    end
    at = at + 2 + number('>B', at + 1)
  end
  local is_member = at == stop and e.batch and is_text(e.batch)
    and (not e.batch_queue or is_name(e.batch_queue))
  return is_member and e or nil
end
