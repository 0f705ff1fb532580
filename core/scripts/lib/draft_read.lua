-- defines draft_read; includes envelope_suffix due_time
-- Reads a draft from four `words`, from index `i` on: id, envelope, due word, and extra, which is
-- '' or "TTL UNIQUE REPLACE". TTL: time to live in ms (negative: it has ended). UNIQUE: for how
-- many ms the id stays unique. REPLACE: 0 refuse, 1 replace the message, 2 replace its body.
-- Returns a table, whose envelope has the end of the time to live.
local function draft_read(words, i, now)
  local id, envelope = words[i], words[i + 1]
  local ttl, window, replace = string.match(words[i + 3], '^(%-?%d+) (%d+) (%d)$')
  local suffix = envelope_suffix(envelope) or ''
  local incarnation = string.byte(envelope, 2) % 2 == 1 and string.sub(envelope, 5, 14) or ''
  if tonumber(ttl or 0) ~= 0 then
    local at = incarnation == '' and 5 or 15
    envelope = string.sub(envelope, 1, at - 1) .. struct.pack('>I8', now + ttl)
      .. string.sub(envelope, at + 8)
  end
  local due = due_time(words[i + 2], now)
  return {
    envelope = envelope, due = due, suffix = suffix, incarnation = incarnation,
    ticket = suffix ~= '' and '0.' .. suffix .. ':' .. id or id,
    at_once = due <= now, window = tonumber(window or 0), replace = tonumber(replace or 0),
  }
end
