-- defines values_reply; includes element_layout
-- The answer with the values of elements: { now ms, -1, a digit for each element (0, or 1: it has
-- neither layout, and the element itself is in the place of its value), the values }.
local function values_reply(now, elements)
  local reply, digits = { now, -1, '' }, {}
  for i, element in ipairs(elements) do
    local layout = layout_of(element)
    digits[i] = layout and '0' or '1'
    reply[3 + i] = layout and value_of(element, layout) or element
  end
  reply[3] = table.concat(digits)
  return reply
end
