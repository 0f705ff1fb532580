-- defines help_sort; needs meta ready; includes arrivals bulk turns
-- A push of messages with groups sorts what waits in `ready` into the lines of the groups: 500
-- tickets, or as many as it has pushed. So the next push finds `ready` empty, and a group that
-- pushes many does not make later messages of others wait for many reserves. Messages that were
-- released wait for a reserve, which sorts all of them at once.
local function help_sort(pushed)
  if redis.call('LLEN', ready) == 0 then
    return
  end
  local state, fields = redis.call('HMGET', meta, 'turns', 'returned'), {}
  if state[1] and tonumber(state[2] or 0) == 0 then
    turns_begin(state[1])
    local sorted = sort_arrivals(math.max(pushed, 500), 0)
    if unreadable[1] then
      -- A reserve puts such a mark into `quarantine`.
      return
    end
    write_turns()
    turns_meta(fields)
    bulk('HSET', meta, fields)
    redis.call('LTRIM', ready, sorted, -1)
  end
end
