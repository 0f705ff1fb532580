-- needs call fields floor format last_joined marks meta names pack place scores state ticket turn
-- includes next_turn
-- Puts a ticket into an empty line. The group gets a turn as lib/turns.lua says, and consumers are
-- woken.
if not state then
  state = call('HMGET', meta, 'turns', 'pushed')
  local at, joined = string.match(state[1] or '', '^(%d+) (%d+)$')
  local sound = at and #at < 16 and #joined < 16
  floor, last_joined, fields = sound and at + 0 or 0, sound and joined + 0 or 0, {}
  if not state[1] then
    -- From now on reserve_groups serves the queue, and the fast reserve passes calls on.
    fields[1], fields[2] = 'has_priorities', '1'
  end
end
scores = scores or {}
if turn <= floor then
  -- include next_turn
  turn = last_joined
  scores[#scores + 1], scores[#scores + 2] = format('%d', turn), names[place]
end
marks[place] = pack('>BI4I7I4I4H', 1, 1, turn, 2 ^ 31, 2 ^ 31 - 1, #ticket) .. ticket
