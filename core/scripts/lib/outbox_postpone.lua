-- defines outbox_postpone; needs handover; includes note_event outbox_put
-- Notes why an entry stays in the outbox, and when to try again: after 1 s, and twice as long each
-- time, up to 5 minutes.
local function outbox_postpone(ticket, id, problem, now)
  local tries = tonumber(string.match(redis.call('HGET', handover, id) or '', '^(%d+) ') or 0)
  local at = now + math.min(1000 * 2 ^ math.min(tries, 20), 300000)
  redis.call('HSET', handover, id, string.format('%d ', tries + 1) .. problem)
  note_event(at, now)
  outbox_put(ticket, at)
end
