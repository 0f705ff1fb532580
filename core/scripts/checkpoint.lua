-- checkpoint: stores a cursor with a leased message, as the last header of its envelope. All else
-- in the envelope stays.
-- keys msg leased meta attempts reply
-- includes leased_message keep_reply envelope refuse_newer noop_write
-- args ticket, cursor ('': it goes)
-- Returns a digit: 0 done, 4 the lease is lost; or an error: CORRUPT, TOO_LARGE.

-- include refuse_newer
-- include noop_write
local id, envelope = leased_message(ARGV[4])
if not id then
  return keep_reply(DUEQ_LEASE_LOST)
end
local e = envelope_read(envelope)
if not e then
  return redis.error_reply('CORRUPT the envelope of ' .. id .. ' is damaged')
end
local flags = string.byte(envelope, 2)
local has = flags % 8 >= 4
local at = has and e.headers + 2 or e.headers
local stop = has and at + struct.unpack('>H', envelope, e.headers) or at
local kept = {}
while at < stop do
  local name, _, after = struct.unpack('>Bc0Hc0', envelope, at)
  kept[#kept + 1] = name ~= 'cursor' and string.sub(envelope, at, after - 1) or nil
  at = after
end
if ARGV[5] ~= '' then
  kept[#kept + 1] = struct.pack('>Bc0Hc0', 6, 'cursor', #ARGV[5], ARGV[5])
end
local headers = table.concat(kept)
if #headers > 65535 then
  return redis.error_reply(string.format('TOO_LARGE the headers take %d bytes; 65535 are allowed',
    #headers))
end
flags = flags - (has and 4 or 0) + (headers ~= '' and 4 or 0)
redis.call('HSET', msg, id, string.sub(envelope, 1, 1) .. string.char(flags)
  .. string.sub(envelope, 3, e.headers - 1)
  .. (headers ~= '' and struct.pack('>H', #headers) .. headers or '') .. string.sub(envelope, stop))
return keep_reply(DUEQ_OK)
