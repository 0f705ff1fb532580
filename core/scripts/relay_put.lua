-- relay_put: pushes entries of another queue's outbox to this queue. It notes the pushed entries
-- until they have left that outbox, so that a relay that pushes one again stores nothing twice.
-- keys msg ready high low delayed wake meta unique leased dead outbox attempts received
-- keys groups turns working parked timers ends kept started awaited guests
-- includes now precheck store_below_backlog put_tickets deferred_removals replace_message
-- includes return_problem leaves wake note_end envelope
-- args alone: when the relay's lease ends in ms, the other queue's name, then of each entry id,
--   envelope, due, extra (as of push_full), attempts and ticket
-- Returns a digit for each: 0 stored, 2 a message has this id, or the id is still unique, 9
--   its group is at its backlog; or '' if the relay's lease has ended.

-- include replace_message
local now = now_ms()
if now >= tonumber(ARGV[1]) then
  return ''
end
-- If a push fails in its middle, the relay pushes again, and then a lane has the ticket twice. So
-- the types of all keys are checked first.
local length = redis.pcall('HLEN', msg)
local problem = type(length) == 'table' and length
-- include return_problem
precheck({ HLEN = { meta, attempts }, LLEN = { ready, high, low }, ZCARD = { delayed } })
local outcome, words, places, records, fresh = {}, {}, {}, {}, {}
for i = 3, #ARGV, 6 do
  local note, n = ARGV[2] .. '\n' .. ARGV[i + 5], #outcome + 1
  outcome[n] = DUEQ_OK
  if redis.call('ZSCORE', received, note) then
    -- WAIT waits for a write: the new time of the note is one.
    fresh[#fresh + 1] = note
  else
    places[n], records[#records + 1] = note, ARGV[i + 4]
    for k = i, i + 3 do
      words[#words + 1] = ARGV[k]
    end
  end
end
local how, at = { replace = replace_message, records = records, attempts = attempts }, 0
local digits = #words > 0 and store_below_backlog(words, 1, now, how)
for n = 1, #outcome do
  if places[n] then
    at = at + 1
    outcome[n] = tonumber(string.sub(digits, at, at))
    fresh[#fresh + 1] = outcome[n] == DUEQ_OK and places[n] or nil
  end
end
for i = 1, #words, 4 do
  -- A member of a batch of the other queue is here now.
  local place = (i + 3) / 4
  local e = string.byte(words[i + 1]) == 0xD3 and string.sub(digits, place, place) == '0'
    and envelope_read(words[i + 1])
  if e and e.batch and e.batch_queue then
    redis.pcall('HINCRBY', guests, e.batch_queue .. '\n' .. e.batch, '1')
  end
end
put_tickets(received, now, fresh)
-- Relays that died before relay_forget have left notes.
redis.call('ZREMRANGEBYRANK', received, 0, -10001)
local returned = write_left()
if write_ends(now) or returned > 0 then
  -- The client of this call relays for another queue: a consumer that waits here tells the batches.
  wake_one()
end
run_removals()
return table.concat(outcome)
