-- Gives dead messages back, their failures and crashes forgiven. `dead_ids`: ids; returns a digit for each: 0 it is
-- ready, 3 there is no such dead message; and how many are ready.
local function revive(dead_ids)
  local outcome, back, records, gone, seen = {}, {}, {}, {}, {}
  for i, id in ipairs(dead_ids) do
    local envelope = not seen[id] and redis.call('HGET', msg, id)
    local text = envelope and redis.call('HGET', attempts, id)
    local ticket, had
    if envelope then
      ticket, had = current_ticket(id, envelope, text)
    end
    seen[id] = true
    local found = ticket and redis.call('ZSCORE', dead, ticket)
    outcome[i] = found and DUEQ_OK or DUEQ_NOT_FOUND
    if found then
      back[#back + 1] = ticket
    end
    -- One that was never delivered has none, and gets none: who delivers it first does not look for them.
    if found and text then
      had.forgiven, had.crashes = had.deliveries, 0
      records[#records + 1], records[#records + 2] = id, attempts_write(had)
    end
  end
  if #back > 0 then
    if line_up(back) then
      wake_one(#back > 1)
    end
    if #records > 0 then
      redis.call('HSET', attempts, unpack(records))
    end
    redis.call('ZREM', dead, unpack(back))
  end
  return table.concat(outcome), #back
end
