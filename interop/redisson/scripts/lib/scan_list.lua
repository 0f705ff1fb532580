-- defines scan_list
-- Calls `seen` with each element of a list and the element's index, from the head, until `seen`
-- returns true. Reads the list in portions, which are smaller where the elements are large.
local function scan_list(list, seen)
  local at, size = 0, 50
  while true do
    local found, bytes = redis.call('LRANGE', list, at, at + size - 1), 0
    for i, element in ipairs(found) do
      bytes = bytes + #element
      if seen(element, at + i - 1) then
        return
      end
    end
    if #found < size then
      return
    end
    at = at + size
    size = bytes > 1000000 and math.max(1, math.floor(size / 2)) or math.min(1000, size * 2)
  end
end
