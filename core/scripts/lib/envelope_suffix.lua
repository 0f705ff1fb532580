-- defines envelope_suffix
-- The suffix that the tickets of a sound envelope's message have; nil where they have none.
local function envelope_suffix(envelope)
  local flags = string.byte(envelope, 2)
  local incarnation = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  local suffix = incarnation .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
  return suffix ~= '' and suffix or nil
end
