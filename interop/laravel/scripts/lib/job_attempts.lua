-- defines is_sound attempts_raised
-- The attempts that Laravel's worker would write into a payload, as text. Raises an error where
-- Laravel's script raises one: that script has then taken the payload from the list, and loses it.
local function attempts_tried(payload)
  local job = cjson.decode(payload)
  job.attempts = job.attempts + 1
  cjson.encode(job)
  return string.format('%.14g', job.attempts)
end

-- A payload with a NUL is not sound: cjson reads up to the NUL, attempts_members() beyond it.
local function is_sound(payload)
  return (pcall(attempts_tried, payload)) and not string.find(payload, '\0', 1, true)
end

-- How many levels deeper a part of a payload begins than it ends. It begins and ends outside
-- strings.
local function depth_of(part)
  local bare = string.gsub(string.gsub(part, '\\.', ''), '"[^"]*"', '')
  local _, opened = string.gsub(bare, '[%[{]', '')
  local _, closed = string.gsub(bare, '[%]}]', '')
  return closed - opened
end

-- Where members called attempts begin, and where their values begin, at any depth, from front to
-- back.
local function attempts_members(payload)
  local begins, values, at = {}, {}, 1
  -- If a letter of a name may be escaped as \u00XX, all names of letters, digits and escapes are
  -- read.
  local escaped = string.find(payload, '\\u006', 1, true) or string.find(payload, '\\u007', 1, true)
  while true do
    local begin = string.find(payload, escaped and '"[\\%w]+"%s*:' or '"attempts"', at, not escaped)
    if not begin then
      return begins, values
    end
    local name, value = string.match(payload, '^("[\\%w]+")%s*:%s*()', begin)
    local same = name == '"attempts"'
    if name and not same and escaped then
      local good, plain = pcall(cjson.decode, '[' .. name .. ']')
      same = good and plain[1] == 'attempts'
    end
    -- Inside a string a quote has a backslash before it; outside it has none.
    if same and string.byte(payload, begin - 1) ~= 92 then
      begins[#begins + 1], values[#values + 1] = begin, value
    end
    at = begin + 1
  end
end

-- Raises the attempts in a payload's text; all other bytes stay. Returns the text, the offset of
-- the new number, and what was there before; nil: the payload is not sound.
local function attempts_raised(payload)
  local good, raised = pcall(attempts_tried, payload)
  if not good or string.find(payload, '\0', 1, true) then
    return nil
  end
  local begins, values = attempts_members(payload)
  local depth, stop = 0, #payload
  -- Of several such members of the payload itself the last one counts, for cjson and for PHP.
  for i = #begins, 1, -1 do
    local value = values[i]
    depth = depth + depth_of(string.sub(payload, value, stop))
    if depth == 1 then
      local was = string.match(payload, '^"[^"]*"', value)
        or string.match(payload, '^[^%s,}]+', value)
      local begin, rest = string.sub(payload, 1, value - 1), string.sub(payload, value + #was)
      return begin .. raised .. rest, value - 1, was
    end
    stop = begins[i] - 1
  end
  return nil
end
