-- The longest offered element of a value, and its layout; nil where there is none. Where there is none of
-- the value, one of `otherwise` is taken, unless that is nil. The layout is nil where elements of another
-- one than `wanted` wait.
local function element_of(offered, timeout, wanted, value, otherwise)
  local layout, found, other = layout_found(offered, timeout, wanted), nil, nil
  local function is(element, sought)
    return #element >= #sought + 9 and layout_of(element) == layout and value_of(element, layout) == sought
  end
  if layout and layout > 0 then
    scan_list(offered, function(element)
      if is(element, value) then
        found = element
      elseif otherwise and not other and is(element, otherwise) then
        other = element
      end
      return found
    end)
  end
  return found or other, layout
end
