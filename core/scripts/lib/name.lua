-- Is it a queue's name: 1 to 255 bytes of UTF-8 without braces and control characters? Names come from
-- envelopes and entries too, and a foreign one must not stop the queue that meets it.
local function is_name(text)
  if #text == 0 or #text > 255 or string.find(text, '[%c{}]') then
    return false
  end
  local tail = '[\128-\191]'
  for _, form in ipairs({
    '\240[\144-\191]' .. tail .. tail, '[\241-\243]' .. tail .. tail .. tail, '\244[\128-\143]' .. tail .. tail,
    '\224[\160-\191]' .. tail, '[\225-\236\238\239]' .. tail .. tail, '\237[\128-\159]' .. tail,
    '[\194-\223]' .. tail,
  }) do
    text = string.gsub(text, form, 'x')
  end
  return not string.find(text, '[\128-\255]')
end

-- The name of the queue that has this msg key.
local function queue_of(msg)
  return string.match(msg, '^dueq:{(.*)}:msg$')
end
