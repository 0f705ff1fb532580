-- defines layout_of value_of
-- How Redisson packs a waiting element, with numbers in the byte order of the server's machine.
-- Layout 1, Redisson 3.21.1 and later: the size of the id in a byte (8), the id, the value's size
-- in 8 bytes, the value. Layout 2, before: the id as a double, the value's size in 8 bytes, the
-- value.

-- True if the 8 bytes behind the first `head` bytes are the number of bytes that follow them.
local function size_matches(element, head)
  return #element >= head + 8 and struct.unpack('L', element, head + 1) == #element - head - 8
end

-- 1, 2, or nil: neither.
local function layout_of(element)
  local id = string.byte(element) or 0
  if id == 8 and size_matches(element, 9) then
    return 1
  elseif size_matches(element, 8) then
    return 2
  end
  return size_matches(element, 1 + id) and 1 or nil
end

local function value_of(element, layout)
  return string.sub(element, layout == 2 and 17 or 10 + string.byte(element))
end
