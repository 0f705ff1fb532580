-- hold_group: gives a leased message back uncounted, to the front of the line of its group, and
-- holds the group.
-- keys msg ready high low leased meta attempts reply wake turns working parked timers rated holds
-- includes now leased_message ticket attempts deferred_removals enqueue count group_in hold_for
-- includes give_places end_delivery held noop_write keep_reply
-- args ticket, for how many ms (0: a hold ends)
-- Returns a digit: 0 done, 4 the lease is lost; or an error: INVALID, the message has no group.

-- include held
-- include noop_write
local name = group_in(ARGV[4])
if not name then
  return redis.error_reply('INVALID the message has no group that can be held: release the message')
end
local id, _, had = leased_message(ARGV[4])
if not id then
  return keep_reply(DUEQ_LEASE_LOST)
end
local taken_out = { ARGV[4] }
-- include give_places
hold_for(name, tonumber(ARGV[5]), now_ms(), ARGV[4])
had.forgiven = had.forgiven + 1
enqueue({ ticket_write(had.deliveries, id, had.suffix) }, true)
count('returned', 1)
redis.call('HSET', attempts, id, attempts_write(had))
defer_removal('ZREM', leased, ARGV[4])
-- include end_delivery
return keep_reply(DUEQ_OK)
