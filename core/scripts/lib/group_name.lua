-- defines name; needs byte envelope sub
-- The group that an envelope names, as in tickets; '': none. The core made the message's id, so
-- the envelope has no incarnation.
local name, flags = '', byte(envelope, 2)
if flags >= 128 then
  local at = 5 + (flags % 16 >= 8 and 8 or 0) + (flags % 4 >= 2 and 4 or 0)
  name = sub(envelope, at + 1, at + (byte(envelope, at) or 0))
  if string.find(name, '[%% :]') then
    name = string.gsub(name, '[%% :]', { ['%'] = '%25', [' '] = '%20', [':'] = '%3A' })
  end
end
