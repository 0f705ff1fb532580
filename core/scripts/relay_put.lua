-- relay_put: pushes entries of another queue's outbox to this queue. What was pushed is kept until the entry is gone
-- from the outbox, so that a relay that does it again stores nothing twice.
-- keys msg ready high low delayed wake meta unique leased dead outbox attempts received
-- args alone: when the relay's lease ends in ms, the other queue's name, then of each entry id, envelope, due, extra (as of
--      push), attempts and ticket
-- Returns a digit for each: 0 stored, 2 a living message has this id, or it is still unique; or '' where the
-- lease is over.

-- include replace
local now = now_ms()
if now >= tonumber(ARGV[1]) then
  return ''
end
local outcome, words, places, notes, records = {}, {}, {}, {}, {}
for i = 3, #ARGV, 6 do
  local n, note = #outcome + 1, ARGV[2] .. '\n' .. ARGV[i + 5]
  outcome[n] = DUEQ_OK
  if not redis.call('ZSCORE', received, note) then
    places[#places + 1], records[#records + 1], notes[n] = n, ARGV[i + 4], note
    for k = i, i + 3 do
      words[#words + 1] = ARGV[k]
    end
  end
end
if #words > 0 then
  -- A ticket that is pushed again after a push that ended in its middle would be there twice.
  look({ HLEN = { meta, attempts }, LLEN = { ready, high, low }, ZCARD = { delayed } })
  local digits, noted = store(words, 1, now, { replace = replace, records = records }), {}
  for k, n in ipairs(places) do
    outcome[n] = tonumber(string.sub(digits, k, k))
    noted[#noted + 1] = outcome[n] == DUEQ_OK and notes[n] or nil
  end
  put(received, now, noted)
  -- Relays that died before their last step have left some.
  redis.call('ZREMRANGEBYRANK', received, 0, -10001)
  remove_gone()
end
return table.concat(outcome)
