-- defines backoff_ms
-- The delay in ms after `failed` failures. bytes: the message's backoff; nil: it has none, so the
-- default holds, which is exponential with equal jitter. chance: 0 to 65535.
local function backoff_ms(bytes, failed, chance)
  bytes = bytes
    or struct.pack('>BBI4I4', 3, 2, DUEQ_DEFAULT_BACKOFF_BASE_MS, DUEQ_DEFAULT_BACKOFF_CAP_MS)
  local kind, jitter = string.byte(bytes, 1, 2)
  local function word(n)
    return struct.unpack('>I4', bytes, 4 * n - 1)
  end
  local ms = word(kind == 4 and math.min(failed, (#bytes - 2) / 4) or 1)
  if kind == 2 then
    ms = ms * failed
  elseif kind == 3 then
    ms = ms * 2 ^ math.min(failed - 1, 40)
  end
  local cap = (kind == 2 or kind == 3) and word(2) or 0
  ms = math.min(ms, cap > 0 and cap or 4102444800000)
  if jitter == 1 then
    ms = ms * chance / 65535
  elseif jitter == 2 then
    ms = ms / 2 + ms / 2 * chance / 65535
  end
  return math.floor(ms)
end
