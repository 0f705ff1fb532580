-- defines layout_error same_layout layout_found; includes element_layout
-- A queue with both layouts is refused. A Redisson that meets an element of the other layout moves
-- the elements in front of it again and again.
local function layout_error(queue)
  return redis.error_reply('LAYOUT ' .. queue
    .. ' has elements of another layout than asked for, or of both: '
    .. 'those of Redisson up to 3.21.0 (old) and of later ones (new) do not mix')
end

-- Checks that all elements have one layout, which is `wanted` unless that is 0. Returns this layout
-- (0: not known yet), or nil. An element of neither layout is passed over.
local function same_layout(elements, wanted)
  for _, element in ipairs(elements) do
    local layout = layout_of(element)
    if layout and wanted ~= 0 and layout ~= wanted then
      return nil
    end
    wanted = layout or wanted
  end
  return wanted
end

-- Checks the waiting elements in the same way. Reads only the first and the last, in the order of
-- the list and in that of the times.
local function layout_found(offered, timeout, wanted)
  local ends = redis.call('LRANGE', offered, 0, 0)
  ends[#ends + 1] = redis.call('LRANGE', offered, -1, -1)[1]
  ends[#ends + 1] = redis.call('ZRANGE', timeout, 0, 0)[1]
  ends[#ends + 1] = redis.call('ZRANGE', timeout, -1, -1)[1]
  return same_layout(ends, wanted)
end
