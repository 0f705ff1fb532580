-- defines envelope_suffix
-- The suffix of the tickets of an envelope's message; nil: they have none. The envelope has its
-- flags.
local function envelope_suffix(envelope)
  local flags = string.byte(envelope, 2)
  local incarnation = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  local suffix = incarnation .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
  return suffix ~= '' and suffix or nil
end
