-- defines hourly_entries
-- The earliest entry of each hour in `entries`, which begin with the latest; at most `most`.
local function hourly_entries(entries, most)
  local kept = {}
  local function hour(entry)
    return math.floor((tonumber(string.match(entry or '', '^%d+')) or 0) / 3600000)
  end
  for i, entry in ipairs(entries) do
    if #kept < most and hour(entry) ~= hour(entries[i + 1]) then
      kept[#kept + 1] = entry
    end
  end
  return kept
end
