-- defines remove_from_list; includes scan_list
-- Removes elements from a list. LREM finds an element near one of the list's ends at once, and for
-- any other walks the list. If many are far from both ends, one walk of this script for all of them
-- takes less time, although it spends more on each element that it passes, and the more the larger
-- the element is (measured with 100,000 elements of 20 to 200 bytes). mark: a text that is no
-- element of the list.
local function remove_from_list(list, elements, mark)
  local near, far, bytes = 500, {}, 0
  for _, element in ipairs(elements) do
    if redis.call('LPOS', list, element, 'MAXLEN', near) then
      redis.call('LREM', list, 1, element)
    elseif redis.call('LPOS', list, element, 'RANK', -1, 'MAXLEN', near) then
      redis.call('LREM', list, -1, element)
    else
      far[#far + 1], bytes = element, bytes + #element
    end
  end
  if #far < 4 + bytes / math.max(1, #far) / 16 then
    for _, element in ipairs(far) do
      redis.call('LREM', list, 1, element)
    end
    return
  end
  local wanted, left = {}, #far
  for _, element in ipairs(far) do
    wanted[element] = true
  end
  scan_list(list, function(element, place)
    if wanted[element] then
      wanted[element], left = nil, left - 1
      redis.call('LSET', list, place, mark)
    end
    return left == 0
  end)
  if left < #far then
    redis.call('LREM', list, #far - left, mark)
  end
end
