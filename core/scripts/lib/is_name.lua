-- defines is_name; includes text
-- Is it a queue's name? Names come from envelopes too, and a foreign one must not stop the queue
-- that meets it.
local function is_name(text)
  return is_text(text) and not string.find(text, '[{}]')
end
