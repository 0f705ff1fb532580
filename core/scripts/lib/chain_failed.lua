-- defines chain_failed; needs msg; includes outbox_put is_name text queue_name
-- What happens when a message ends badly that is a link of a chain with a `catch` (protocol.md,
-- Chains): a message for the queue of `catch` goes to the outbox, also if that is this queue. It
-- has the chain and, in the header dueq-failed, the id, the queue and the error of the link.
local chain_failed
do
  -- An id in the form of the core's own: 48 bits of milliseconds, and 80 bits of the hash of a
  -- text.
  local function id_made(ms, text)
    local hash, digits = redis.sha1hex(text), {}
    local words = { math.floor(ms / 2 ^ 32), math.floor(ms / 2 ^ 16) % 2 ^ 16, ms % 2 ^ 16 }
    for i = 1, 5 do
      words[3 + i] = tonumber(string.sub(hash, 4 * i - 3, 4 * i), 16)
    end
    for place = 22, 1, -1 do
      local rest = 0
      for i = 1, 8 do
        local value = rest * 2 ^ 16 + words[i]
        words[i], rest = math.floor(value / 62), value % 62
      end
      digits[place] = string.char(rest < 10 and 48 + rest or rest < 36 and 55 + rest or 61 + rest)
    end
    return table.concat(digits)
  end

  -- e: the message's envelope as a table. ticket: names its end, and so the message that is put.
  -- precheck: called before the first write; nil: the caller has checked the keys. Returns whether
  -- a relay has work.
  function chain_failed(id, e, ticket, text, now, precheck)
    local chain
    if string.byte(e.bytes, 2) % 8 >= 4 then
      local at = e.headers + 2
      local stop = at + struct.unpack('>H', e.bytes, e.headers)
      while at < stop do
        local name, value, after = struct.unpack('>Bc0Hc0', e.bytes, at)
        chain, at = name == 'dueq-chain' and value or chain, after
      end
    end
    local target = chain and string.match(chain, '^([^\n]+)\n')
    if not target or not is_name(target) then
      return false
    end
    local failed = id .. '\n' .. queue_name() .. '\n'
    -- Room for both headers, with their names and sizes.
    local room = 65535 - 27 - #chain - #failed
    if room < 0 then
      return false
    end
    -- An error may have any bytes, and a header has UTF-8.
    text = is_utf8(text) and text or string.gsub(text, '[\128-\255]', '?')
    failed = failed .. (#text <= room and text or string.gsub(string.sub(text, 1, room),
      '[\192-\255]?[\128-\191]*$', ''))
    if precheck then
      precheck()
    end
    local headers = struct.pack('>Bc0Hc0Bc0Hc0', 10, 'dueq-chain', #chain, chain, 11, 'dueq-failed',
      #failed, failed)
    local envelope = struct.pack('>BBHH', 0xD1, 4, 16, #headers) .. headers
    -- The entry and the message have two ids, as they may be in the same queue for a moment.
    local entry, put = id_made(now, 'entry' .. msg .. ticket), id_made(now, msg .. ticket)
    local stored = { target, put, envelope, string.format('@%d', now), '', 'named' }
    outbox_put(entry, now + 1000)
    redis.call('HSET', msg, entry, string.char(0xD2) .. cmsgpack.pack(stored))
    return true
  end
end
