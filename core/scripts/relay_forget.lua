-- relay_forget: forgets entries of another queue's outbox that are gone from there.
-- keys received meta
-- includes refuse_newer
-- args alone: the other queue's name, tickets
-- Returns how many were known.

-- include refuse_newer
local notes = {}
for i = 2, #ARGV do
  notes[i - 1] = ARGV[1] .. '\n' .. ARGV[i]
end
return redis.call('ZREM', received, unpack(notes))
