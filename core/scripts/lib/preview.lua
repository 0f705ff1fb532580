-- defines preview; includes envelope
-- An envelope up to so many bytes of its body; '0': all of it. Of a damaged one nothing is left.
local function preview(envelope, most)
  if most == '0' then
    return envelope
  end
  local e = envelope_read(envelope)
  return e and string.sub(envelope, 1, e.at - 1 + tonumber(most)) or ''
end
