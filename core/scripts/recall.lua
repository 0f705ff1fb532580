-- recall: after a lost connection, tells what a call answered if it was run. It changes nothing.
-- keys msg leased attempts reply
-- args alone: number of the call, '1' if the call was a reserve, '2' to be told how large its answer is
-- Returns nil if the call was not run, else its answer; for a reserve as reserve.lua's, with the
-- messages of that call that are still held, and the time of that call. How large: how many they are, their
-- bytes, and the id of the largest.

local number, text = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
if number ~= ARGV[1] then
  return nil
end
if ARGV[2] == '0' then
  return text
end
local seconds, us, outcomes, tickets = string.match(text, '^(%d+)%.(%d+) (%d*)\n(.*)$')
local records = {}
local answer = { seconds * 1000 + math.floor(us / 1000), -1, 0, 0, '', records, outcomes }
local bytes, most, largest = 0, -1, ''
for ticket in string.gmatch(tickets, '[^\n]+') do
  local deliveries, id = ticket_read(ticket)
  local envelope = deliveries and redis.call('ZSCORE', leased, ticket) and redis.call('HGET', msg, id)
  if envelope then
    answer[#answer + 1] = ticket
    answer[#answer + 1] = envelope
    bytes = bytes + #envelope
    if #envelope > most then
      most, largest = #envelope, id
    end
    local record = deliveries > 0 and redis.call('HGET', attempts, id)
    if record then
      records[#records + 1], records[#records + 2] = (#answer - 7) / 2, record
    end
  end
end
if ARGV[2] == '2' then
  return { (#answer - 7) / 2, bytes, largest }
end
if #answer == 7 then
  -- What it said of a wait is not kept.
  answer[2] = 0
end
return answer
