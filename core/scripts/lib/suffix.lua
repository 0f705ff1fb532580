-- defines is_suffix
-- Whether a text is a ticket's suffix: '!' if the end of the message is noted (lib/note_end.lua);
-- the incarnation (10 base-62 digits); then 'h' or 'l', or '=' and the group. At least one of them.
local function is_suffix(text)
  local noted, own, group = string.match(text, '^(!?)(%w*)(=?[^:%s%c]*)$')
  if not own or group ~= '' then
    return own and string.byte(group) == 61 and #group > 1 and (#own == 0 or #own == 10)
  end
  local mark = string.sub(own, -1)
  return #own == 10 or #own == 0 and noted == '!'
    or (#own == 1 or #own == 11) and (mark == 'h' or mark == 'l')
end
