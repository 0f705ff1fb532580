-- defines envelope_suffix
-- The suffix of the tickets of an envelope's message; nil: they have none. The envelope has its
-- flags. A ticket's parts end with ':', and those of attempts with a space: so a group's name has
-- these two, and '%', as '%' and two hexadecimal digits.
local function envelope_suffix(envelope)
  local version, flags = string.byte(envelope, 1, 2)
  local own = flags % 2 == 1 and string.sub(envelope, 5, 14) or ''
  local suffix = version == 0xD3 and '!' .. own or own
  if flags >= 128 then
    local at = 5 + #own + (flags % 16 >= 8 and 8 or 0) + (flags % 4 >= 2 and 4 or 0)
    local group = string.sub(envelope, at + 1, at + (string.byte(envelope, at) or 0))
    if string.find(group, '[%% :]') then
      group = string.gsub(group, '[%% :]', { ['%'] = '%25', [' '] = '%20', [':'] = '%3A' })
    end
    return suffix .. '=' .. group
  end
  suffix = suffix .. (flags >= 64 and 'l' or flags >= 32 and 'h' or '')
  return suffix ~= '' and suffix or nil
end
