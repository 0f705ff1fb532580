-- recall: after a lost connection, tells what a call answered if it was run. It changes nothing.
-- KEYS[1] msg     HASH  id -> envelope
-- KEYS[2] leased  ZSET  ticket -> end of lease, ms
-- KEYS[3] past    HASH  id -> deliveries, forgiven, crashes, tag, last error
-- KEYS[4] reply   STRING  what the session's last call answered
-- ARGV    number of the call, '1' if the call was a reserve, '2' to be told how large its answer is
-- Returns nil if the call was not run, else its answer; for a reserve as reserve.lua's, with the
-- messages of that call that are still held, and the time of that call. How large: how many they are, their
-- bytes, and the id of the largest.
local msg, leased, past, kept = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- include ticket

local number, answer = string.match(redis.call('GET', kept) or '', '^(%d+) (.*)$')
if number ~= ARGV[1] then
  return nil
end
if ARGV[2] == '0' then
  return answer
end
local time, outcomes, tickets = string.match(answer, '^(%d+) ?(%d*)\n(.*)$')
local pasts = {}
local reply = { time, -1, 0, 0, '', pasts, outcomes }
local bytes, most, largest = 0, -1, ''
for ticket in string.gmatch(tickets, '[^\n]+') do
  local before, id = ticket_read(ticket)
  local envelope = before and redis.call('ZSCORE', leased, ticket) and redis.call('HGET', msg, id)
  if envelope then
    reply[#reply + 1] = ticket
    reply[#reply + 1] = envelope
    bytes = bytes + #envelope
    if #envelope > most then
      most, largest = #envelope, id
    end
    local text = before > 0 and redis.call('HGET', past, id)
    if text then
      pasts[#pasts + 1], pasts[#pasts + 2] = (#reply - 7) / 2, text
    end
  end
end
if ARGV[2] == '2' then
  return { (#reply - 7) / 2, bytes, largest }
end
if #reply == 7 then
  -- What it said of a wait is not noted.
  reply[2] = 0
end
return reply
