-- defines is_utf8 is_text
-- Whether a text is well-formed UTF-8 (RFC 3629).
local function is_utf8(text)
  if not string.find(text, '[\128-\255]') then
    return true
  end
  local tail = '[\128-\191]'
  for _, form in ipairs({
    '\240[\144-\191]' .. tail .. tail, '[\241-\243]' .. tail .. tail .. tail,
    '\244[\128-\143]' .. tail .. tail,
    '\224[\160-\191]' .. tail, '[\225-\236\238\239]' .. tail .. tail, '\237[\128-\159]' .. tail,
    '[\194-\223]' .. tail,
  }) do
    text = string.gsub(text, form, 'x')
  end
  return not string.find(text, '[\128-\255]')
end

-- Whether a text may be an id, a queue's name or a header's name: 1 to 255 bytes of UTF-8 without
-- control characters. Other programs may have written to the server, so what it returns is checked
-- too.
local function is_text(text)
  return #text > 0 and #text <= 255 and not string.find(text, '%c') and is_utf8(text)
end
