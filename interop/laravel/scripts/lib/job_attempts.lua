-- The attempts that a worker of Laravel's makes of a job's payload, as text. Raises an error where its script
-- would, which takes the payload from the list before it decodes it, and so loses it.
local function attempts_tried(payload)
  local job = cjson.decode(payload)
  job.attempts = job.attempts + 1
  cjson.encode(job)
  return string.format('%.14g', job.attempts)
end

-- cjson ends at a NUL, so what is behind it would be looked at here and not there.
local function is_sound(payload)
  return (pcall(attempts_tried, payload)) and not string.find(payload, '\0', 1, true)
end

-- By how much deeper a part of a payload begins than it ends, which begins and ends outside of strings.
local function depth_of(part)
  local bare = string.gsub(string.gsub(part, '\\.', ''), '"[^"]*"', '')
  local _, opened = string.gsub(bare, '[%[{]', '')
  local _, closed = string.gsub(bare, '[%]}]', '')
  return closed - opened
end

-- Where members called attempts begin, at any depth, and their values: from front to back.
local function attempts_members(payload)
  local begins, values, at = {}, {}, 1
  -- Only where some letter of a name may be written as \u00XX, all short names are looked at.
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
    -- Inside of a string a quote has a backslash in front, and outside there is none.
    if same and string.byte(payload, begin - 1) ~= 92 then
      begins[#begins + 1], values[#values + 1] = begin, value
    end
    at = begin + 1
  end
end

-- Raises the attempts in a payload's text; all other bytes stay as they are. Returns the text, the place of
-- the new number, counted from 0, and what stood there; nil where the payload is not sound.
local function attempts_raised(payload)
  local good, raised = pcall(attempts_tried, payload)
  if not good or string.find(payload, '\0', 1, true) then
    return nil
  end
  local begins, values = attempts_members(payload)
  local depth, stop = 0, #payload
  -- The last member of the payload itself counts, for cjson and for PHP.
  for i = #begins, 1, -1 do
    local value = values[i]
    depth = depth + depth_of(string.sub(payload, value, stop))
    if depth == 1 then
      local was = string.match(payload, '^"[^"]*"', value) or string.match(payload, '^[^%s,}]+', value)
      return string.sub(payload, 1, value - 1) .. raised .. string.sub(payload, value + #was), value - 1, was
    end
    stop = begins[i] - 1
  end
  return nil
end
