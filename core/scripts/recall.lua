-- recall: after a lost connection, returns what a call answered, if the server ran it.
-- keys msg leased attempts reply
-- includes ticket
-- args alone: number of the call; '1' if the call was a reserve, '2' to learn the size of its
--   reply, else '0'; if WAIT follows, for how many ms the reply is kept
-- Returns nil if the server did not run the call, else its reply. A reserve's reply has those
--   messages of the call that are still leased, the time of the call, and, as the wait, how many us
--   ago it ran. '2': returns how many bytes the messages have.

local number, text = string.match(redis.call('GET', reply) or '', '^(%d+) (.*)$')
if number ~= ARGV[1] then
  return nil
end
if ARGV[3] then
  -- WAIT waits for the last write of its connection. Without one it would answer at once.
  redis.call('PEXPIRE', reply, ARGV[3])
end
if ARGV[2] == '0' then
  return text
end
local seconds, us, outcomes, tickets = string.match(text, '^(%d+)%.(%d+) (%d*)\n(.*)$')
local records = {}
local answer = { seconds * 1000 + math.floor(us / 1000), -1, 0, 0, '', records, outcomes }
local size = 0
for ticket in string.gmatch(tickets, '[^\n]+') do
  local deliveries, id = ticket_read(ticket)
  local envelope = deliveries and redis.call('ZSCORE', leased, ticket)
    and redis.call('HGET', msg, id)
  if envelope then
    answer[#answer + 1] = ticket
    answer[#answer + 1] = envelope
    size = size + #envelope
    local record = deliveries > 0 and redis.call('HGET', attempts, id)
    if record then
      records[#records + 1], records[#records + 2] = (#answer - 7) / 2, record
    end
  end
end
if ARGV[2] == '2' then
  return size
end
-- The wait that the call answered is not kept.
answer[2] = 0
if #answer > 7 then
  local time = redis.call('TIME')
  answer[2] = math.max(0, (time[1] - seconds) * 1000000 + time[2] - us)
end
return answer
