-- cancel_any: takes messages back from any state but the outbox, where they belong to another queue. The ticket of a ready
-- one stays in its line, and is dropped when it is met without its message.
-- keys msg delayed leased dead outbox meta attempts reply
-- args ids
-- Returns a digit for each: the state that it was in (1 ready, 2 delayed, 3 leased, 4 dead), or 0: there is no
-- such message, or it is in the outbox.

local states, ids, records, seen, cancelled = {}, {}, {}, {}, 0
local tickets = { {}, {}, {}, {} }
for i = 4, #ARGV do
  local id = ARGV[i]
  local envelope = not seen[id] and redis.call('HGET', msg, id)
  local state = envelope and 1 or 0
  seen[id] = true
  if envelope then
    local text = redis.call('HGET', attempts, id)
    local ticket = current_ticket(id, envelope, text)
    for n, set in ipairs({ delayed, leased, dead }) do
      if state == 1 and redis.call('ZSCORE', set, ticket) then
        state = n + 1
      end
    end
    if state == 1 and text and redis.call('ZSCORE', outbox, ticket) then
      state = 0
    else
      ids[#ids + 1] = id
      records[#records + 1] = text and id or nil
      table.insert(tickets[state], ticket)
    end
  end
  states[#states + 1] = state
end
if #ids > 0 then
  for n, set in ipairs({ delayed, leased, dead }) do
    if #tickets[n + 1] > 0 then
      redis.call('ZREM', set, unpack(tickets[n + 1]))
    end
  end
  redis.call('HDEL', msg, unpack(ids))
  if #records > 0 then
    redis.call('HDEL', attempts, unpack(records))
  end
  count('cancelled', #ids)
end
return done(table.concat(states))
