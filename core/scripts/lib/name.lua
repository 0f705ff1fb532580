-- Is it a queue's name? Names come from envelopes and entries too, and a foreign one must not stop the queue
-- that meets it.
local function is_name(text)
  return is_text(text) and not string.find(text, '[{}]')
end

-- The name of the queue that has this msg key.
local function queue_of(msg)
  return string.match(msg, '^dueq:{(.*)}:msg$')
end
