-- defines help_sort; needs meta ready; includes arrivals bulk turns
-- A reserve sorts 250 messages into the lines of their groups. If more wait for that, a push of
-- messages with groups sorts them, 500 or as many as it has pushed: else a group that pushes many
-- would make later messages of others wait for many reserves. Messages that were released wait for
-- a reserve, which sorts all of them at once.
local function help_sort(pushed)
  if redis.call('LLEN', ready) <= 250 then
    return
  end
  local state = redis.call('HMGET', meta, 'turns', 'returned')
  if state[1] and tonumber(state[2] or 0) == 0 then
    local fields = {}
    turns_begin(state[1])
    local sorted = sort_arrivals(math.max(pushed, 500), 0)
    write_turns()
    turns_meta(fields)
    bulk('HSET', meta, fields)
    redis.pcall('HINCRBY', meta, 'ready_offset', sorted)
    redis.call('LTRIM', ready, sorted, -1)
  end
end
