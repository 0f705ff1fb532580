-- reserve: acknowledges messages, then takes due and ready ones under a lease. It reads all that it needs before it
-- writes; where it meets anything but first deliveries of plain messages, it changes nothing and answers 0, and the
-- client calls reserve_rare in its place.
-- keys msg ready leased delayed wake meta reply
-- args how many, lease in ms (0: the message's own), default lease in ms, '1' if the consumer waits when there is
--      nothing, '1' if it must rewake: it took a wake token or is a timekeeper, and so must see to it that others are
--      woken in its place; how many tickets are acknowledged, and these, none of which came back before
-- Returns { now ms, wait us, 1 if the caller is a timekeeper, quarantined, '1' if a relay has work, attempts, outcomes,
--           then ticket and envelope of each message }. The lease of each is that of ARGV, else the envelope's own,
--           else the default, from now.
--         wait: 0 call again at once, -1 nothing to come or others look.
--         attempts: { index, attempts, ... } of the messages that came back.
--         outcomes: a digit for each acknowledged ticket, as of ack.
local call, argv = redis.call, ARGV
local time = call('TIME')
local now, most = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(argv[4])
local state = call('HMGET', meta, 'next_event', 'timekeepers', 'reserved', 'acked', 'has_priorities', 'outbox_event')
local first, reserved, acked = tonumber(state[1] or ''), tonumber(state[3] or 0), tonumber(state[4] or 0)
local out = tonumber(state[6] or '')
local looked = not first or first <= now
if state[5] == '1' or not (reserved and acked and reserved < 2 ^ 53 and acked < 2 ^ 53)
  or (first and not (first > 0 and first <= 4102444800000)) or (looked and out and out <= now) then
  return 0
end

local tickets = call('LRANGE', ready, 0, most - 1)
local lined, due = #tickets, {}
if looked then
  local ended = tonumber(call('ZRANGE', leased, 0, 0, 'WITHSCORES')[2] or '')
  local found = call('ZRANGE', delayed, 0, most, 'WITHSCORES')
  if #found == 2 * most + 2 and tonumber(found[#found]) <= now then
    found = call('ZRANGE', delayed, 0, 100, 'WITHSCORES')
  end
  first = math.min(ended or math.huge, out or math.huge)
  for i = 1, #found, 2 do
    local at = tonumber(found[i + 1])
    if at > now or i == 201 then
      first = math.min(first, math.ceil(at))
      break
    end
    due[#due + 1] = found[i]
  end
  if first <= now and not due[1] or ended and ended <= now then
    return 0
  end
  first = first < 4102444800000 and first or nil
end
local direct = math.min(#due, most - lined)
for i = 1, direct do
  tickets[lined + i] = due[i]
end
local n = #tickets

-- A plain ticket is an id that the core made, or "0.INCARNATION:ID" with an id of printable ASCII.
local function id_in(ticket)
  if #ticket == 22 and not string.find(ticket, '%W') then
    return ticket
  end
  local incarnation, id = string.match(ticket, '^0%.(%w+):([ -~]+)$')
  if id and #incarnation == 10 and #id < 256 then
    return id, incarnation
  end
end
local ids = {}
for i = 1, n do
  ids[i] = id_in(tickets[i])
  if not ids[i] then
    return 0
  end
end
for i = direct + 1, #due do
  if not id_in(due[i]) then
    return 0
  end
end
local envelopes = n > 0 and call('HMGET', msg, unpack(ids)) or {}
local answer = { now, -1, 0, 0, '', {}, '' }
local ends, deliver = string.format('%d', now + (argv[5] == '0' and argv[6] or argv[5])), {}
-- A small sorted set is a packed list, which each change reads from its start. A member of this size makes
-- it a skip list, and that it stays until it is empty.
local long = n > 9 and '-----------------------------------------------------------------'
for i = 1, n do
  local ticket, envelope = tickets[i], envelopes[i]
  local version, flags = string.byte(envelope or '', 1, 2)
  if version ~= 0xD1 or #envelope < 4 or flags ~= (#ticket == 22 and ids[i] == ticket and 0 or 1)
    or flags == 1 and (#envelope < 14 or string.sub(envelope, 5, 14) ~= string.sub(ticket, 3, 12)) then
    return 0
  end
  deliver[2 * i - 1], deliver[2 * i] = ends, ticket
  answer[2 * i + 6], answer[2 * i + 7] = ticket, envelope
end

-- include held
-- include ids
-- include wake
-- include event
-- include timekeeper
-- include close
-- include done
local gone = {}
if argv[10] then
  answer[7], gone = held(10, #argv, now)
end
local acknowledged = #gone
local left = (looked or argv[8] == '1') and (lined < most and #due - direct or call('LLEN', ready) - lined + #due - direct)
  or 0
if n > 0 then
  -- include permit
  if long then
    deliver[2 * n + 1], deliver[2 * n + 2] = '0', long
  end
  call('ZADD', leased, unpack(deliver))
end
local gone_ids = ids_of(gone)
if acknowledged > 0 then
  call('HDEL', msg, unpack(gone_ids))
end
if long then
  gone[#gone + 1] = long
end
if #gone > 0 then
  call('ZREM', leased, unpack(gone))
end
if #due > direct then
  call('RPUSH', ready, unpack(due, direct + 1))
end
if lined > 0 then
  call('LTRIM', ready, lined, -1)
end
if #due > 0 then
  call('ZREMRANGEBYRANK', delayed, 0, #due - 1)
end

local fields, is_new = {}, looked
if n > 0 then
  fields[1], fields[2] = 'reserved', string.format('%d', reserved + n)
  if not first or tonumber(ends) < first then
    first, is_new = tonumber(ends), true
  end
end
if acknowledged > 0 then
  fields[#fields + 1], fields[#fields + 2] = 'acked', string.format('%d', acked + acknowledged)
end
answer[2], answer[3] = close(n, left, first, is_new, fields, looked, state[2], now, time[2] % 1000)
if n > 0 or argv[10] then
  done(string.format('%d ', now) .. answer[7] .. '\n' .. table.concat(tickets, '\n'))
end
return answer
