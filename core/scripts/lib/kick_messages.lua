-- defines kick_messages; needs attempts begun dead
-- includes find_in_set attempts enqueue bulk begun_member
-- Makes dead messages ready, and forgives their failures and crashes. Returns a digit for each id
-- (0 it is ready, 3 there is no such dead message), and how many are ready.
local function kick_messages(ids)
  local outcome, back, messages = find_in_set(ids, dead)
  local records, members = {}, {}
  for id, m in pairs(messages) do
    -- A message that was never delivered keeps no attempts: its first delivery does not look for
    -- them.
    if m.text then
      m.had.forgiven, m.had.crashes = m.had.deliveries, 0
      records[#records + 1], records[#records + 2] = id, attempts_write(m.had)
    end
  end
  -- In the order strict, a message that was kicked comes to its group as a new one.
  for i = 1, #back do
    members[#members + 1] = begun_member(back[i])
  end
  enqueue(back)
  bulk('HSET', attempts, records)
  bulk('ZREM', dead, back)
  bulk('ZREM', begun, members)
  return outcome, #back
end
