-- The longest offered element of a value, and its layout; nil where there is none. The layout is nil
-- where elements of another one than `wanted` wait.
local function element_of(offered, timeout, wanted, value)
  local layout, found = layout_found(offered, timeout, wanted), nil
  if layout and layout > 0 then
    portions(offered, function(element)
      if #element >= #value + 9 and layout_of(element) == layout and value_of(element, layout) == value then
        found = element
      end
      return found
    end)
  end
  return found, layout
end
