-- defines preview; includes envelope
-- An envelope with at most so many bytes of its body ('0': all). Nothing is left of a corrupt one.
local function preview(envelope, most)
  if most == '0' then
    return envelope
  end
  local e = envelope_read(envelope)
  return e and string.sub(envelope, 1, e.at - 1 + tonumber(most)) or ''
end
