-- defines help_sort; needs groups lines meta ready turns; includes arrivals bulk turns
-- A push of messages with groups sorts what waits in `ready` into the lines of the groups: 500
-- tickets, or as many as it has pushed. So the next push finds `ready` empty, and a group that
-- pushes many does not make later messages of others wait for many reserves. Messages that were
-- released wait for a reserve, which sorts all of them at once. counts: groups have a backlog, and
-- the next push counts what waits in `ready`: so this one sorts the released messages, too.
local function help_sort(pushed, counts)
  if redis.call('LLEN', ready) == 0 then
    return
  end
  -- The push has stored its messages, and must not fail now. A reserve tells of the foreign type.
  for key, size in pairs({ [groups] = 'HLEN', [lines] = 'HLEN', [turns] = 'ZCARD' }) do
    if type(redis.pcall(size, key)) == 'table' then
      return
    end
  end
  local state, fields = redis.call('HMGET', meta, 'turns', 'returned'), {}
  local returned = tonumber(state[2] or 0) or 0
  if state[1] and (returned == 0 or counts and returned <= 4000) then
    turns_begin(state[1])
    local sorted = sort_arrivals(math.max(pushed, 500) + returned, returned)
    if unreadable[1] then
      -- A reserve puts such a mark into `quarantine`.
      return
    end
    write_turns()
    turns_meta(fields)
    if returned > 0 then
      fields[#fields + 1], fields[#fields + 2] = 'returned', '0'
    end
    bulk('HSET', meta, fields)
    redis.call('LTRIM', ready, sorted, -1)
  end
end
