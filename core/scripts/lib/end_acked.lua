-- defines out; needs id envelope now msg attempts leased
-- includes deferred_removals end_delivery leaves note_end
-- The end of a script that acknowledges the message of the ticket ARGV[4] and has stored its
-- successors. out: whether a relay has work.
local out = write_ends(now)
defer_removal('HDEL', attempts, id)
-- If a successor has the message's own id, its envelope has another incarnation.
if redis.call('HGET', msg, id) == envelope then
  defer_removal('HDEL', msg, id)
end
defer_removal('ZREM', leased, ARGV[4])
local give_places = write_left
-- include end_delivery
