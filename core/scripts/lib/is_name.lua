-- defines is_name; includes text
-- Whether a text may be a queue's name. Envelopes have names too, and one that is none must not
-- stop the queue.
local function is_name(text)
  return is_text(text) and not string.find(text, '[{}]')
end
