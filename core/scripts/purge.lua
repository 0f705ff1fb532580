-- purge: takes messages of one state away, a bounded number at a time.
-- KEYS[1] msg      HASH  id -> envelope
-- KEYS[2] ready    LIST  tickets in delivery order
-- KEYS[3] delayed  ZSET  ticket -> due, ms
-- KEYS[4] leased   ZSET  ticket -> end of lease, ms
-- KEYS[5] dead     ZSET  ticket -> when it died, ms
-- KEYS[6] past     HASH  id -> deliveries, forgiven, crashes, stamp, last error
-- KEYS[7] info     HASH  next, claims, counters
-- KEYS[8] calls    HASH  session -> its last call and answer
-- ARGV    session, call number, fresh, state (1 ready, 2 delayed, 3 leased, 4 dead), how many at most
-- Returns "messages taken away" or, when more may be there, "messages taken away +".
local msg, ready, past, info, calls = KEYS[1], KEYS[2], KEYS[6], KEYS[7], KEYS[8]
-- include ticket
-- include envelope
-- include past
-- include place
-- include done

local state, most = tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HLEN', msg)
redis.call('HLEN', past)
local set, tickets = KEYS[state + 1], nil
if state == 1 then
  tickets = redis.call('LPOP', ready, most) or {}
else
  tickets = redis.call('ZRANGE', set, 0, most - 1)
  redis.call('ZREMRANGEBYRANK', set, 0, most - 1)
end
local ids, seen = {}, {}
for _, ticket in ipairs(tickets) do
  local _, id = ticket_read(ticket)
  local envelope = id and not seen[id] and redis.call('HGET', msg, id)
  if envelope and ticket == current_ticket(id, envelope, redis.call('HGET', past, id)) then
    ids[#ids + 1], seen[id] = id, true
  end
end
if #ids > 0 then
  redis.call('HDEL', msg, unpack(ids))
  redis.call('HDEL', past, unpack(ids))
  redis.pcall('HINCRBY', info, 'purged', #ids)
end
local more = #tickets == most and ' +' or ''
return done(calls, ARGV[1], ARGV[2], ARGV[3], string.format('%d', #ids) .. more)
