-- relay_forget: forgets entries of another queue's outbox, which have left that outbox.
-- keys received meta
-- includes refuse_newer
-- args alone: the other queue's name, tickets
-- Returns how many of them this queue knew.

-- include refuse_newer
local notes = {}
for i = 2, #ARGV do
  notes[i - 1] = ARGV[1] .. '\n' .. ARGV[i]
end
return redis.call('ZREM', received, unpack(notes))
