-- defines is_suffix
-- Whether a text is a ticket's suffix: the incarnation (10 base-62 digits), 'h' or 'l', or both; or
-- '=' and the group, with or without an incarnation before it.
local function is_suffix(text)
  local own, group = string.match(text, '^(%w*)(=?[^:%s%c]*)$')
  if not own or group ~= '' then
    return own and string.byte(group) == 61 and #group > 1 and (#own == 0 or #own == 10)
  end
  local mark = string.sub(own, -1)
  return #own == 10 or (#own == 1 or #own == 11) and (mark == 'h' or mark == 'l')
end
