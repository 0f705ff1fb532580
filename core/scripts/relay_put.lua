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
-- A ticket that is pushed again after a push that ended in its middle would be there twice.
look({ HLEN = { meta, attempts }, LLEN = { ready, high, low }, ZCARD = { delayed } })
local outcome, notes = '', {}
for i = 3, #ARGV, 6 do
  local note, digit, record = ARGV[2] .. '\n' .. ARGV[i + 5], DUEQ_OK .. '', ARGV[i + 4]
  if not redis.call('ZSCORE', received, note) then
    local had = record ~= '' and attempts_read(record)
    local ticket = had and ticket_write(had.deliveries, ARGV[i], had.suffix)
    digit = store({ unpack(ARGV, i, i + 3) }, 1, now, { replace = replace, ticket = ticket })
    notes[#notes + 1] = digit == DUEQ_OK .. '' and note or nil
    if had and digit == DUEQ_OK .. '' then
      redis.call('HSET', attempts, ARGV[i], record)
    end
  end
  outcome = outcome .. digit
end
put(received, now, notes)
-- Relays that died before their last step have left some.
redis.call('ZREMRANGEBYRANK', received, 0, -10001)
remove_gone()
return outcome
