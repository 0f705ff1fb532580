-- defines element_of; includes layout_found element_layout scan_list
-- Finds the first offered element of a value. If there is none, finds the first of `otherwise`
-- (nil: no other value). Returns the element (nil: none), and the layout of the waiting elements
-- (nil: some have another layout than `wanted`).
local function element_of(offered, timeout, wanted, value, otherwise)
  local layout, found, other = layout_found(offered, timeout, wanted), nil, nil
  local function is(element, sought)
    return #element >= #sought + 9 and layout_of(element) == layout
      and value_of(element, layout) == sought
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
