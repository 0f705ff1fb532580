-- purge: takes messages of one state away, a bounded number at a time.
-- KEYS[1] msg        HASH  id -> envelope
-- KEYS[2] ready      LIST  tickets in delivery order
-- KEYS[3] high       LIST  those of high priority
-- KEYS[4] low        LIST  those of low priority
-- KEYS[5] delayed    ZSET  ticket -> due, ms
-- KEYS[6] leased     ZSET  ticket -> end of lease, ms
-- KEYS[7] dead       ZSET  ticket -> when it died, ms
-- KEYS[8] past       HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[9] info       HASH  next, claims, counters
-- KEYS[10] outgoing  HASH  id -> due, ms, of messages that move to another queue
-- KEYS[11] reply     STRING  what the session's last call answered
-- ARGV    number, keep, minute, state (1 ready, 2 delayed, 3 leased, 4 dead), how many at most
-- Returns "messages taken away" or, when more may be there, "messages taken away +".
local msg, ready, past, info, outgoing = KEYS[1], KEYS[2], KEYS[8], KEYS[9], KEYS[10]
local sets = { nil, KEYS[5], KEYS[6], KEYS[7] }
-- include ticket
-- include name
-- include envelope
-- include past
-- include place
-- include count
-- include done

local state, most = tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HLEN', msg)
redis.call('HLEN', past)
if state == 1 then
  for _, line in ipairs({ KEYS[3], ready, KEYS[4] }) do
    redis.call('LLEN', line)
  end
elseif state == 2 then
  redis.call('HLEN', outgoing)
end
local ids, seen, met = {}, {}, 0
local function take(id, ticket)
  local envelope = id and not seen[id] and redis.call('HGET', msg, id)
  if envelope and (not ticket or is_current(ticket, id, envelope, redis.call('HGET', past, id))) then
    ids[#ids + 1], seen[id] = id, true
  end
  met = met + 1
end

if state == 1 then
  for _, line in ipairs({ KEYS[3], ready, KEYS[4] }) do
    local tickets = most > met and redis.call('LPOP', line, most - met) or {}
    for _, ticket in ipairs(tickets) do
      take(select(2, ticket_read(ticket)), ticket)
    end
    if line == ready and #tickets > 0 then
      count(info, 'skew', #tickets)
    end
  end
else
  local set = sets[state]
  local tickets = redis.call('ZRANGE', set, 0, most - 1)
  redis.call('ZREMRANGEBYRANK', set, 0, most - 1)
  for _, ticket in ipairs(tickets) do
    take(select(2, ticket_read(ticket)), ticket)
  end
  local leaving = state == 2 and most > met and redis.call('HRANDFIELD', outgoing, most - met) or {}
  if #leaving > 0 then
    redis.call('HDEL', outgoing, unpack(leaving))
  end
  for _, id in ipairs(leaving) do
    take(id)
  end
end
if #ids > 0 then
  redis.call('HDEL', msg, unpack(ids))
  redis.call('HDEL', past, unpack(ids))
  count(info, 'purged', #ids)
end
local more = met == most and ' +' or ''
return done(KEYS[11], string.format('%d', #ids) .. more)
